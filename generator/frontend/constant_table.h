#pragma once

#include "generator/frontend/polynomial.h"
#include "generator/frontend/scope.h"

namespace clang {
class ArraySubscriptExpr;
class Expr;
}

namespace esc::frontend {

/// What an element of an array of integers is as an index: static const int tap[3] = {-1, 0, 1} at [r] is r - 1. `index` is what stands in its brackets. Refuses arrays whose values are not
/// constants of the text, indices that may leave the array, and values that are no affine function of the index.
Polynomial read_table(const clang::ArraySubscriptExpr& element, const Polynomial& index, const Scope& scope);

/// Whether the variable is an array with the values of its elements.
bool is_table(const clang::VarDecl& variable);
/// Whether the expression is an element of one.
bool is_of_table(const clang::Expr& element);

}  // namespace esc::frontend
