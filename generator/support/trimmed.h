// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace esc {

/// The text without the blanks and ends of lines around it.
inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n\v\f";
  const std::size_t begin = text.find_first_not_of(blanks);
  return begin == text.npos ? std::string_view() : text.substr(begin, text.find_last_not_of(blanks) + 1 - begin);
}

}  // namespace esc
