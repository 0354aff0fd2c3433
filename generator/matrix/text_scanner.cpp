// SPDX-License-Identifier: Apache-2.0
#include "generator/matrix/text_scanner.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <system_error>

#include "generator/matrix/typed_elements.h"
#include "generator/support/error.h"

namespace esc {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 16;
constexpr std::size_t longest_word = 1024;  // a float64 written out in full stays below

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

bool ends_word(char c) { return is_blank(c) || c == '\n' || c == ','; }

std::string_view without_plus(std::string_view word) {
  return word.size() > 1 && word[0] == '+' && word[1] != '-' ? word.substr(1) : word;
}

/// Whether the digits of a number, as opposed to those of its exponent, are all zeros.
bool reads_zero(std::string_view word) {
  const std::string_view mantissa = word.substr(0, word.find_first_of("eE"));
  return mantissa.find_first_of("123456789") == std::string_view::npos;
}

}  // namespace

TextScanner::TextScanner(ByteSource& source) : source_(source), buffer_(buffer_bytes) { source_.rewind(); }

bool TextScanner::refill() {
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  const std::size_t got = source_.read(std::as_writable_bytes(std::span(buffer_).subspan(end_)));
  end_ += got;
  return got > 0;
}

std::string_view TextScanner::word() {
  while (true) {
    while (begin_ < end_ && is_blank(buffer_[begin_])) {
      ++begin_;
    }
    if (begin_ < end_) {
      break;
    }
    if (!refill()) {
      return {};
    }
  }
  if (buffer_[begin_] == '\n') {
    return {};
  }
  std::size_t length = 1;
  if (buffer_[begin_] != ',') {
    while (true) {
      while (begin_ + length < end_ && !ends_word(buffer_[begin_ + length])) {
        ++length;
      }
      if (length > longest_word) {
        refuse(fmt::format("a word of more than {} characters, {}, is no number", longest_word,
                           in_quotes({&buffer_[begin_], longest_word})),
               "check that this is a text file of the format that its name says");
      }
      // A word that reaches the end of the buffer may go on in the next part of the file.
      if (begin_ + length < end_ || !refill()) {
        break;
      }
    }
  }
  const std::string_view found(&buffer_[begin_], length);
  begin_ += length;
  return found;
}

bool TextScanner::skip_line() {
  do {
    const auto* from = buffer_.data() + begin_;
    const auto* found = std::find(from, static_cast<const char*>(buffer_.data() + end_), '\n');
    begin_ += static_cast<std::size_t>(found - from);
    if (begin_ < end_) {
      ++begin_;
      ++line_;
      return true;
    }
  } while (refill());
  return false;
}

bool TextScanner::end_line(std::string_view rule) {
  if (const std::string_view rest = word(); !rest.empty()) {
    refuse(fmt::format("{}, but {} follows", rule, in_quotes(rest)), "remove what does not belong there");
  }
  return skip_line();
}

void TextScanner::end_file() {
  while (end_line("the matrix is complete")) {
  }
}

void TextScanner::refuse(const std::string& rule, const std::string& remedy) const {
  throw UserError(place_of_line(source_, line_), rule, remedy);
}

std::string place_of_line(const ByteSource& source, std::int64_t line) {
  return fmt::format("{}, line {}", source.name(), line);
}

std::string in_quotes(std::string_view word) {
  constexpr std::size_t shown = 40;
  std::string text = "\"";
  for (const char c : word.substr(0, shown)) {
    text += c >= ' ' && c <= '~' ? c : '?';
  }
  return text + (word.size() > shown ? "...\"" : "\"");
}

std::int64_t parse_integer(const TextScanner& scanner, std::string_view word, std::string_view meaning) {
  const std::string_view digits = without_plus(word);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error == std::errc::result_out_of_range) {
    scanner.refuse(fmt::format("{} {} does not fit 64 bits", meaning, in_quotes(word)), "write a smaller number");
  }
  if (error != std::errc() || end != digits.data() + digits.size()) {
    scanner.refuse(fmt::format("{} {} is not a whole number", meaning, in_quotes(word)), "write digits only");
  }
  return number;
}

double parse_real(const TextScanner& scanner, std::string_view word, std::string_view meaning, ScalarType element) {
  const std::string_view digits = without_plus(word);
  return with_read_type(element, [&](auto number) -> double {
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    const bool is_number = error != std::errc::invalid_argument && end == digits.data() + digits.size();
    if (!is_number) {
      scanner.refuse(fmt::format("{} {} is not a number", meaning, in_quotes(word)), "write it like -1.25e-3");
    }
    // Standard libraries differ in whether they report these two or return an infinity or a zero.
    const bool overflows = std::isinf(number) && digits.find_first_of("0123456789") != std::string_view::npos;
    const bool vanishes = number == 0 && !reads_zero(digits);
    if (error == std::errc::result_out_of_range || overflows || vanishes) {
      scanner.refuse(
          fmt::format("{} {} does not fit float{}, whose magnitudes go from {:.1e} to {:.1e}", meaning, in_quotes(word),
                      8 * sizeof number, std::numeric_limits<decltype(number)>::denorm_min(),
                      std::numeric_limits<decltype(number)>::max()),
          "scale the matrix, or write 0 where a zero is meant");
    }
    return number;
  });
}

}  // namespace esc
