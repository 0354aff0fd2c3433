// SPDX-License-Identifier: Apache-2.0
#include "tests/support/text_words.h"

#include <clang/Basic/LangOptions.h>
#include <clang/Lex/Lexer.h>

#include <cctype>

namespace esc::tests {

std::vector<Word> words_of(const std::string& text) {
  clang::LangOptions options;
  options.CPlusPlus = true;
  options.CPlusPlus17 = true;
  options.Bool = true;
  clang::Lexer lexer(clang::SourceLocation(), options, text.data(), text.data(), text.data() + text.size());
  std::vector<Word> words;
  bool in_directive = false;
  for (clang::Token token; !lexer.LexFromRawLexer(token);) {
    const std::size_t end = static_cast<std::size_t>(lexer.getBufferLocation() - text.data());
    const std::size_t begin = end - token.getLength();
    in_directive = token.isAtStartOfLine() ? token.is(clang::tok::hash) : in_directive;
    if (!in_directive) {
      words.push_back({token.getKind(), begin, end, text.substr(begin, end - begin)});
    }
  }
  return words;
}

std::string without_blanks(const std::string& text) {
  std::string result;
  for (const char letter : text) {
    if (std::isspace(static_cast<unsigned char>(letter)) == 0) {
      result += letter;
    } else if (!result.empty() && result.back() != ' ') {
      result += ' ';
    }
  }
  while (result.ends_with(' ')) {
    result.pop_back();
  }
  return result;
}

}  // namespace esc::tests
