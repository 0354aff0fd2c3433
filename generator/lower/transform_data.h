// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

/// transform(A): the sparse array is replaced by its packed form, stored in the order in which the code reads it
/// (paper,
/// 3.3.3). The grid shrinks from all (row tile, pattern) pairs to the lists that have columns.
///
///   grid (block < 3*row_tiles) { i = 2 * (block / 3); pattern = block % 3 + 1; .. k0 = columns(i, q)[c]; .. A[i +
///   1][k0]
/// .. }
///     -> grid (list < lists) { i = 2 * Panels[list]; pattern = Patterns[list]; first = RPP[list]; values = NPP[list];
///        .. k0 = Cols[first + c]; .. ANNZ[values + 2*c + 1] .. }
///
/// Every access to A is then a run-time offset plus an affine part: list l's column c is at Cols[RPP[l] + c] and
/// its value in the r-th set row of the pattern at ANNZ[NPP[l] + c * popcount(pattern) + r]. A list that is longer than
/// the format allows goes on in further entries with the same row tile and pattern, which no statement needs to know.
/// Is after coarsening, which makes the column sets positions in a list.
/// Refuses a nest that still enumerates columns, or is transformed already, and arrays other than the sparse one.
LoopNest transform_data(const LoopNest& nest, const Transform& directive);

}  // namespace esc
