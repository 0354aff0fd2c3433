// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <clang/Lex/Token.h>

#include <cstddef>
#include <string>
#include <vector>

namespace esc::tests {

/// A token of a text of C++, and where it is.
struct Word {
  clang::tok::TokenKind kind;
  std::size_t begin;
  std::size_t end;
  std::string text;
};

/// The tokens outside of directives.
std::vector<Word> words_of(const std::string& text);

/// The text with one blank for each run of blanks, and none at its ends.
std::string without_blanks(const std::string& text);

}  // namespace esc::tests
