// SPDX-License-Identifier: Apache-2.0
#include "generator/support/page_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace esc {

std::size_t columns_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

std::vector<std::string> wrapped(std::string_view text, std::size_t columns) {
  std::vector<std::string> lines(1);
  while (true) {
    const std::size_t begin = text.find_first_not_of(' ');
    if (begin == text.npos) {
      return lines;
    }
    text.remove_prefix(begin);
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(word.size());
    if (!lines.back().empty() && columns_of(lines.back()) + 1 + columns_of(word) > columns) {
      lines.emplace_back();
    }
    lines.back() += lines.back().empty() ? "" : " ";
    lines.back() += word;
  }
}

std::string labelled(std::string_view label, std::string_view text) {
  constexpr std::size_t label_columns = 11;
  std::string page;
  for (const std::string& line : wrapped(text, page_columns - label_columns)) {
    page += fmt::format("{:<{}} {}\n", page.empty() ? label : "", label_columns - 1, line);
  }
  return page;
}

std::string size_text(double bytes) {
  constexpr double step = 1000;
  constexpr std::array<const char*, 5> units{"B", "KB", "MB", "GB", "TB"};
  std::size_t unit = 0;
  while (bytes >= step && unit + 1 < units.size()) {
    bytes /= step;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", bytes, unit > 0 && bytes < 10 ? 1 : 0, units[unit]);
}

}  // namespace esc
