#pragma once

#include "generator/frontend/scope.h"

namespace esc::frontend {

/// The expression without parentheses and without casts that keep every value of an element.
const clang::Expr& without_value_casts(const clang::Expr& expression);

/// Whether the expression is written as an element of an array or of what a pointer points to.
bool is_element(const clang::Expr& expression);

/// The matrix element that an expression for which is_element holds stands for: A[i][k], A[i*K + k], *(A + i*K + k) and
/// mixtures of them. Flat subscripts are split by the extents that the loops' bounds give. Refuses subscripts that are
/// not one iterator each, strides and declared extents that contradict the bounds, other than two dimensions, and
/// elements that are neither float nor double.
MatrixElement read_element(const clang::Expr& expression, const Scope& scope);

/// What an expression reads whose value is no local's: a variable itself, or an element of an array.
struct ReadOperand {
  const clang::VarDecl* variable = nullptr;
  ScalarType type = ScalarType::f32;
  std::vector<Affine> extents = {};  ///< as far as loops or the declaration tell them; 0: unknown
  Access access;
};

/// Reads elements as read_element does, but also vectors, and with any affine subscripts.
ReadOperand read_operand(const clang::Expr& expression, const Scope& scope);

}  // namespace esc::frontend
