// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "generator/frontend/polynomial.h"
#include "generator/frontend/scope.h"

namespace esc::frontend {

/// One subscript, with the expression to point at when it is refused.
struct WrittenSubscript {
  Polynomial value;
  const clang::Expr* source = nullptr;
};

/// An array and how far into it, one subscript per dimension that has been entered.
struct Address {
  const clang::VarDecl* array = nullptr;
  std::vector<WrittenSubscript> subscripts;
};

/// What an lvalue designates: an array, a row of one, or an element, however indices and pointers are mixed in it.
/// Refuses what is based on anything but a variable that points to one array throughout.
Address read_location(const clang::Expr& expression, const Scope& scope);

}  // namespace esc::frontend
