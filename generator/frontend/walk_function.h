// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "generator/frontend/scope.h"

namespace esc::frontend {

/// Something that a function does, with where it does it: an expression that is evaluated for its effect, or a local
/// number, truth value or index that is declared with a first value.
struct Effect {
  const clang::Expr* expression = nullptr;      // null for a declaration
  const clang::VarDecl* declaration = nullptr;  // null for an expression
  Scope scope;
};

/// The function's effects in the order of the text, each with the loops around it and the guards it runs under (an if
/// around it, or an if with continue before it). Locals that never change become definitions in `variables`.
/// Refuses whatever is not made of for loops, guards, declarations and expressions.
std::vector<Effect> walk_function(const clang::FunctionDecl& function, Variables& variables);

}  // namespace esc::frontend
