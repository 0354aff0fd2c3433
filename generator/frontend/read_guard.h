#pragma once

#include "generator/frontend/scope.h"

namespace esc::frontend {

/// A condition on one element: it holds exactly where the element is zero, or exactly where it is not.
struct ZeroTest {
  MatrixElement element;
  bool holds_at_zero = false;
};

/// Reads A[i][k], A[i][k] != 0, !A[i][k], 0 == A[i][k] and the like, also through constant locals. Refuses every other
/// condition.
ZeroTest read_zero_test(const clang::Expr& condition, const Scope& scope);

/// Whether the expression is the number zero.
bool is_zero(const clang::Expr& expression);

}  // namespace esc::frontend
