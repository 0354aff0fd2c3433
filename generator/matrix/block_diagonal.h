// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/product_digits.h"
#include "generator/matrix/sparse_matrix.h"

namespace esc {

/// The matrix of a product with groups, of what the sparse array has stored:
///
///   W[g][f][c] of 2 x 1 x 3, as 2 x 3     ->   [1 2 3 . . .]   with columns (g, c)
///   [1 2 3]                                    [. . . 4 5 6]
///   [4 5 6]
///
/// Each row keeps its elements, in the columns of its own group. What has no groups stays as it is. Throws UserError
/// where the array has another number of columns than its digits count, or the matrix would have too many.
SparseMatrix block_diagonal(SparseMatrix stored, const ProductDigits& digits);

}  // namespace esc
