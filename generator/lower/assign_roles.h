// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/loop_nest.h"
#include "generator/lower/nest_part.h"

namespace esc {

/// Finds what the loops and arrays of a nest are in the sparse-dense product:
///
///   for (c < n) for (d < k) for (r < m) if (W[r][d] != 0) Out[r][c] += In[d][c] * W[r][d];
///     -> c column, d reduction, r row; W sparse, In dense, Out output; Out[r][c] += W[r][d] * In[d][c]
///
/// All of it follows from the subscripts: whatever roles the nest has are not looked at. The arrays come back in the
/// order sparse, dense, output, operands, and the guard once. What other statements make of the sums becomes the nest's
/// epilogue (find_epilogue), and only the update's loops stay. Rows, reduction and columns may have several loops each:
///
///   Y[b][f][p][q] += W[f][c][r][s] * X[b][c][2*p + r - 1][q + s] if 0 <= 2*p + r - 1 && 2*p + r - 1 < 56
///     -> f row; c, r and s reduction; b, p and q columns
///
///   Y[b][4*g + f][p] += W[4*g + f][c][r] * X[b][8*g + c][p + r]
///     -> g group, f row; c and r reduction; b and p columns; Y[b][g][f][p] += W[g][f][c][r] * X[b][g][c][p + r]
/// (split_dimensions)
///
/// A product over the stored elements of the sparse array is one over all of it, under the guard that they are not
/// zero, and has as `written` what it was (DenseSubscripts):
///
///   for (i < M) for (p = rows[i]; p < rows[i + 1]; p++) for (j < N) C[i][j] += values[p] * B[columns[p]][j]
///     -> C[i][j] += values[i][p] * B[p][j] where values[i][p] != 0
///
/// Sparse array and output are indexed by iterators alone, the sparse one by rows first; the dense one by sums of them
/// (require_bounds). Throws NestError for nests that are no such product: more or less than one update that gathers,
/// other indices that are loaded, a role without a loop, arrays that are not three of one type, the sparse
/// matrix transposed, another guard than on zeros of the sparse factor and
/// on the dense array's subscripts, one name for two things. Throws Defect for what no input program may
/// become: nodes that are neither loops nor statements as written, other than
/// two factors. Is before all other steps, so that only it knows what a nest must be to be lowered.
LoopNest assign_roles(const LoopNest& written_nest);

}  // namespace esc
