// SPDX-License-Identifier: Apache-2.0
#include "generator/frontend/host_compiler/tokens.h"

#include <clang/Basic/LangOptions.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Lex/Lexer.h>

namespace esc {
namespace {

clang::LangOptions cpp17() {
  clang::LangOptions language;
  language.LineComment = true;
  language.CPlusPlus = true;
  language.CPlusPlus11 = true;
  language.CPlusPlus14 = true;
  language.CPlusPlus17 = true;
  language.Digraphs = true;
  language.RawStringLiterals = true;
  language.HexFloats = true;
  return language;
}

SourceToken::Kind kind_of(const clang::Token& token) {
  if (token.isOneOf(clang::tok::raw_identifier, clang::tok::identifier)) {
    return SourceToken::Kind::word;
  }
  if (token.is(clang::tok::numeric_constant)) {
    return SourceToken::Kind::number;
  }
  return clang::tok::isLiteral(token.getKind()) ? SourceToken::Kind::literal : SourceToken::Kind::punctuation;
}

}  // namespace

std::vector<SourceToken> tokens_of(const std::string& text) {
  const clang::LangOptions language = cpp17();
  clang::SourceManagerForFile file("text", text);
  clang::SourceManager& sources = file.get();
  const clang::FileID id = sources.getMainFileID();
  clang::Lexer lexer(id, sources.getBufferOrFake(id), sources, language);
  std::vector<SourceToken> tokens;
  clang::Token token;
  for (lexer.LexFromRawLexer(token); token.isNot(clang::tok::eof); lexer.LexFromRawLexer(token)) {
    const char* const punctuation = clang::tok::getPunctuatorSpelling(token.getKind());
    tokens.push_back({kind_of(token),
                      punctuation != nullptr ? punctuation : clang::Lexer::getSpelling(token, sources, language),
                      sources.getSpellingLineNumber(token.getLocation()), token.isAtStartOfLine(),
                      sources.getFileOffset(token.getLocation()), token.getLength()});
  }
  return tokens;
}

}  // namespace esc
