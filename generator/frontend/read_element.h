// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/frontend/scope.h"

namespace esc::frontend {

/// The expression without parentheses and without casts that keep every value of an element.
const clang::Expr& without_value_casts(const clang::Expr& expression);

/// The element that an expression stands for, of a matrix also A[i*K + k], *(A + i*K + k) and mixtures of them: such
/// flat subscripts are split by the extents that the loops' bounds give. Any affine subscripts, of what is loaded from
/// arrays of integers too; a variable that is no array has none, a table of constants its declared extents and values.
/// Refuses subscripts that are not affine, declared extents that contradict the bounds of a loop that runs through the
/// dimension, and elements of other types than float, double, _Float16 and __bf16.
ArrayElement read_element(const clang::Expr& expression, const Scope& scope);

/// The same of a factor: its subscripts are sums of iterators times numbers, no two of them the same iterator alone,
/// and all its extents are known. Refuses vectors but those that several iterators overlap in, such as x[p + r]. Where
/// a subscript is loaded from an array, or counts between bounds that are, it may be any: what such factors are is
/// asked of the nest, and so it is of tables. Vectors of one iterator only where `lists` may be factors.
ArrayElement read_factor(const clang::Expr& expression, const Scope& scope, bool lists = false);

/// The same of what is added to, set or compared with zero: each subscript is the iterator of a loop around, alone, or
/// of several that count together through the dimension, as in Y[4 * g + f] of 8 elements in loops g < 2 and f < 4; or
/// it follows from arrays, as of a factor.
ArrayElement read_own_element(const clang::Expr& expression, const Scope& scope);

}  // namespace esc::frontend
