// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "generator/ir/scalar_type.h"
#include "generator/matrix/byte_source.h"

namespace esc {

/// Splits a text file into words while it streams through a small buffer, and knows the line it is on.
///
/// Words end at blanks (space, tab, carriage return), at the end of a line and at commas; a comma is a word of its own.
class TextScanner {
 public:
  /// Scans `source` from its first byte. The source must outlive the scanner.
  explicit TextScanner(ByteSource& source);

  /// The line that the next word of this line is looked for on, from 1.
  std::int64_t line() const { return line_; }
  /// The next word on this line, or nothing when the line has no more. Valid until the next call.
  std::string_view word();
  /// Ignores what is left of this line and is at the start of the next one; false when there is none.
  bool skip_line();
  /// As `skip_line`, but refuses a word that is left on this line. `rule` says what the line should have held.
  bool end_line(std::string_view rule);
  /// Refuses anything but blanks from here to the end of the file.
  void end_file();

  /// Refuses the file at the current line.
  [[noreturn]] void refuse(const std::string& rule, const std::string& remedy) const;

 private:
  bool refill();

  ByteSource& source_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;  // of what is in the buffer and was not handed out yet
  std::size_t end_ = 0;
  std::int64_t line_ = 1;
};

/// Where line `line` of `source` is, for a message.
std::string place_of_line(const ByteSource& source, std::int64_t line);

/// `word` between quotation marks, shortened, bytes that do not print replaced: fit for a message.
std::string in_quotes(std::string_view word);

/// `word` as a whole number. Refuses other words, and numbers beyond 64 bits; `meaning` names the number in the
/// message.
std::int64_t parse_integer(const TextScanner& scanner, std::string_view word, std::string_view meaning);

/// `word` as the nearest value of a type; "nan" and "inf" are numbers too. Refuses other words, and numbers that the
/// type can hold only as an infinity or as a zero.
double parse_real(const TextScanner& scanner, std::string_view word, std::string_view meaning, ScalarType element);

}  // namespace esc
