// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "generator/frontend/host_compiler/tokens.h"

namespace esc {

/// What is at namespace scope, by its form alone. A form that is none of the simple ones is `other`.
enum class DeclarationKind {
  directive,  ///< a line of the preprocessor
  scope,      ///< `namespace NAME {` or the `}` that ends one
  function,   ///< with its body
  constant,   ///< `constexpr T NAME = ...;`, one of them
  type,       ///< `struct NAME { ... };`, also a class, a union, and an enumeration with a scope
  alias,      ///< `using NAME = ...;`
  assertion,  ///< `static_assert(...);`
  other
};

/// Tokens from `first` to before `last`.
struct Declaration {
  DeclarationKind kind = DeclarationKind::other;
  std::size_t first = 0;
  std::size_t last = 0;
  std::size_t body = 0;  ///< of a function: its `{`
  std::string name;      ///< what it declares; empty where its kind has no name. An operator is `operator` and its sign
};

/// Whether a line of the preprocessor begins at this token.
bool begins_directive(const std::vector<SourceToken>& tokens, std::size_t at);

/// After the last token of the line in which `at` is.
std::size_t end_of_line(const std::vector<SourceToken>& tokens, std::size_t at);

/// Cuts a text into its declarations: every token belongs to one. Directives inside of a declaration are part of it. A
/// text whose brackets do not match is cut somehow, into pieces of which some are `other`.
std::vector<Declaration> declarations_of(const std::vector<SourceToken>& tokens);

}  // namespace esc
