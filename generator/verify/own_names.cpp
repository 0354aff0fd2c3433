// SPDX-License-Identifier: Apache-2.0
#include "generator/verify/own_names.h"

#include <algorithm>
#include <vector>

namespace esc {

/// A name in each line, in order; embedded at build time.
extern const std::string_view header_names;

namespace {

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace

bool has_own_form(std::string_view name) {
  if (name.empty() || name.find("__") != name.npos) {
    return false;
  }
  const auto is_of_variable = [](char c) { return is_lower(c) || is_digit(c) || c == '_'; };
  const auto is_of_type = [](char c) { return is_lower(c) || is_digit(c) || is_upper(c); };
  if (is_lower(name.front())) {
    return std::ranges::all_of(name, is_of_variable);
  }
  return is_upper(name.front()) && std::ranges::all_of(name, is_of_type) &&
         (name.size() == 1 || std::ranges::any_of(name, is_lower));
}

bool is_taken(std::string_view name) {
  static const std::vector<std::string_view> taken = lines_of(header_names);
  return std::ranges::binary_search(taken, name);
}

}  // namespace esc
