// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <concepts>
#include <optional>
#include <string_view>
#include <system_error>

namespace esc {

/// The whole number that the text is: digits of the base alone, after a minus where the type has negative numbers.
/// Nothing for any other text, or for a number that the type does not have.
template <std::integral Number>
std::optional<Number> number_in(std::string_view text, int base = 10) {
  Number number = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number, base);
  return error == std::errc() && stop == end ? std::optional(number) : std::nullopt;
}

/// The number that the text is: decimal, or hexadecimal as "{:a}" prints it; infinities and NaN too. Nothing for any
/// other text, or for a number beyond the type's.
inline std::optional<double> real_in(std::string_view text) {
  const bool is_negative = text.starts_with('-');
  std::string_view digits = text.substr(is_negative ? 1 : 0);
  const bool is_hexadecimal = digits.starts_with("0x");
  digits.remove_prefix(is_hexadecimal ? 2 : 0);
  double number = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] =
      std::from_chars(digits.data(), end, number, is_hexadecimal ? std::chars_format::hex : std::chars_format::general);
  const bool is_number = error == std::errc() && stop == end && !digits.starts_with('-');
  return is_number ? std::optional(is_negative ? -number : number) : std::nullopt;
}

}  // namespace esc
