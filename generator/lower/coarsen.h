// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

/// coarsen(k, UFk): sparse coarsening (paper, 3.3.2). Each thread takes UFk enumerated columns per
/// iteration, loads every element of B that it needs once, and sums in scalars.
///
///   for (j..) for (k : columns(i, q)) { atomicAdd(&C[i][j], A[i][k] * B[k][j]); .. }
///     -> for (j..) { float c0_0 = 0; ..
///          for (c = 0; c < unrolled; c += 2) { k0 = columns(i, q)[c]; .. float b0_0 = B[k0][j]; .. c0_0 += A[i][k0] *
/// b0_0; .. }
///          for (c = unrolled; c < size; c++) { one column }
///          if (0 < count) atomicAdd(&C[i][j], c0_0); .. }
///
/// Scalar c<r>_<w> sums row i+r and column j+32w. A tail loop takes the size % UFk columns that are left: lists need no
/// padding. Write-after-write between blocks is resolved by the atomic adds, now one per thread and element of C.
/// Is after the mapping to lanes, whose columns become the scalars, and before the data transformation, which
/// replaces the column sets by packed lists.
/// Refuses loops other than the mapped reduction loop and factors outside 1 to 16.
LoopNest coarsen(const LoopNest& nest, const Coarsen& directive);

}  // namespace esc
