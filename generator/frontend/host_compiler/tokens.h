// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace esc {

/// One token of a C++ text, as the preprocessor sees it before it does anything.
struct SourceToken {
  enum class Kind { word, number, literal, punctuation };
  Kind kind = Kind::punctuation;
  std::string text;  ///< lines that a backslash joins are joined, and alternative spellings of punctuation replaced
  unsigned line = 1;
  bool begins_line = false;
  std::size_t offset = 0;  ///< of its first character in the text
  std::size_t length = 0;  ///< in the text, with what joins lines
};

/// The tokens of C++17 text, without its comments.
std::vector<SourceToken> tokens_of(const std::string& text);

}  // namespace esc
