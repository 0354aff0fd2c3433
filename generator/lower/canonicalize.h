// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/loop_nest.h"

namespace esc {

/// Brings a nest whose roles assign_roles found to the one form that the steps after it read:
///
///   for (r...) for (d...) for (c...) Out[r][c] += In[r][d] * W[d][c];
///     -> for (i < M) for (j < N) for (k < K) if (A[i][k] != 0) C[i][j] += A[i][k] * B[k][j];
///
/// Where rows, reduction or columns have several iterators, or an array other dimensions than its matrix, the array has
/// a layout that says so (lower/flatten). Iterators, arrays and sizes get their names of the paper (a constant size
/// too: whether it is the matrix's is asked where the matrix is known, and n may be any number), loops the order i, j,
/// k (every order computes the same sums, each element of C in the same order of k), and an update without a guard gets
/// A[i][k] != 0: adding 0 * B[k][j] changes nothing for finite B. Is first, so that programs that mean the same
/// become the same kernel. Throws Defect for a nest that is not one update under loops of all roles: assign_roles lets
/// none through.
LoopNest canonicalize(const LoopNest& nest);

}  // namespace esc
