// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "generator/frontend/host_compiler/tokens.h"
#include "generator/verify/declarations.h"

namespace esc {

/// Tokens from `first` to before `last`.
struct Piece {
  std::size_t first;
  std::size_t last;
};

/// A bundle's text as its tokens and declarations: the generated one, and the one that is checked, in the same way.
class PolicyText {
 public:
  PolicyText(std::string file, const std::string& text);

  const std::vector<SourceToken>& tokens() const { return tokens_; }
  const SourceToken& token(std::size_t at) const { return tokens_[at]; }
  bool is(std::size_t at, std::string_view text) const { return at < tokens_.size() && tokens_[at].text == text; }
  const std::vector<Declaration>& declarations() const { return declarations_; }

  /// Whether a declaration is in a conditional part of which not every compiler takes the same.
  bool is_conditional(std::size_t declaration) const { return is_conditional_[declaration]; }
  /// Whether a declaration is the line before what a run-time compiler does not need, which nvcc and the emulator
  /// take.
  bool is_boundary(std::size_t declaration) const;
  /// Whether a function's head has the word.
  bool is_marked(const Declaration& function, std::string_view word) const;
  bool opens_condition(std::size_t directive) const;

  /// Tokens with blanks between them, and a line end before each directive.
  std::string print(const Piece& piece) const;
  std::string print(const Declaration& declaration) const { return print(Piece{declaration.first, declaration.last}); }
  /// A kernel up to its body.
  std::string head_of(const Declaration& kernel) const { return print(Piece{kernel.first, kernel.body}); }

  /// Throws UserError (status check_failed) with the line of the token.
  [[noreturn]] void refuse(std::size_t at, const std::string& rule,
                           const std::string& remedy = "generate the bundle again") const;

 private:
  std::string file_;
  std::vector<SourceToken> tokens_;
  std::vector<Declaration> declarations_;
  std::vector<bool> is_conditional_;
};

/// What a declaration has inside: conditional parts and directives, and the tokens that are in none of them.
struct Inside {
  std::vector<Piece> conditionals;
  std::vector<Piece> directives;
  std::vector<std::size_t> plain;
};

Inside inside_of(const PolicyText& text, const Declaration& declaration);

}  // namespace esc
