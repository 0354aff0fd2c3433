// SPDX-License-Identifier: Apache-2.0
#include "generator/model/tensor_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "generator/support/plain_text.h"

namespace esc {
namespace {

constexpr std::size_t longest_name = 1024;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Takes the digits from the front of the text; without leading zeros.
std::string_view take_number(std::string_view& text) {
  std::size_t end = 0;
  while (end < text.size() && is_digit(text[end])) {
    ++end;
  }
  std::string_view number = text.substr(0, end);
  number.remove_prefix(std::min(number.find_first_not_of('0'), number.size()));
  text.remove_prefix(end);
  return number;
}

}  // namespace

std::string name_problem(std::string_view name) {
  if (name.empty()) {
    return "is empty";
  }
  if (name.size() > longest_name) {
    return fmt::format("has more than {} bytes", longest_name);
  }
  if (!is_plain_text(name)) {
    return "has control characters, marks that turn the direction of reading, or bytes that are not UTF-8";
  }
  if (name.find("*/") != name.npos || name.find("/*") != name.npos) {
    return "has the characters that end or begin a comment";
  }
  if (name.front() == '/' || name == ".." || name.starts_with("../") || name.ends_with("/..") ||
      name.find("/../") != name.npos) {
    return "is a path that leads elsewhere";
  }
  return {};
}

std::string_view module_of(std::string_view name) {
  const std::size_t end = name.find_last_of("./");
  return end == name.npos ? std::string_view() : name.substr(0, end);
}

std::string_view leaf_of(std::string_view name) { return name.substr(name.find_last_of("./") + 1); }

std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words(1);
  for (const unsigned char c : name) {
    if (std::isalnum(c) != 0) {
      words.back() += static_cast<char>(std::tolower(c));
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  if (words.back().empty()) {
    words.pop_back();
  }
  return words;
}

bool is_before(std::string_view one, std::string_view other) {
  const std::string_view whole_one = one;
  const std::string_view whole_other = other;
  while (!one.empty() && !other.empty()) {
    if (is_digit(one.front()) && is_digit(other.front())) {
      const std::string_view a = take_number(one);
      const std::string_view b = take_number(other);
      if (a != b) {
        return a.size() != b.size() ? a.size() < b.size() : a < b;
      }
      continue;
    }
    if (one.front() != other.front()) {
      return static_cast<unsigned char>(one.front()) < static_cast<unsigned char>(other.front());
    }
    one.remove_prefix(1);
    other.remove_prefix(1);
  }
  return one.empty() != other.empty() ? one.empty() : whole_one < whole_other;
}

}  // namespace esc
