// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "generator/matrix/sparse_matrix.h"

namespace esc {

/// What became of values that a narrower type does not hold.
struct Rounding {
  std::int64_t became_zero = 0;  ///< non-zeros below the type's smallest number; the rounded matrix has them no more
  std::int64_t became_infinite = 0;  ///< finite values beyond its largest
};

/// Rounds each value to the nearest one of `element` and leaves out what became zero. Between two it is the even one,
/// in tf32 the one farther from zero.
Rounding round_values(SparseMatrix& matrix, ScalarType element);

}  // namespace esc
