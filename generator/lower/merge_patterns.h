// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

/// merge(): the cases of a row tile become one loop over its rows, for every column in which any of them is non-zero. A
/// row that is zero there multiplies by an explicit zero, which changes nothing for finite B.
///
///   for (k...) switch (pattern(A[i..i + 1][k])) { case 0b01: C[i][j] += ..; case 0b10: ..; case 0b11: both }
///     -> for (k : columns(i, any of 0b11))
///          for (u = 0; u < row_tile_height; u++) if (i + u < M) C[i + u][j] += A[i + u][k] * B[k][j];
///
/// A pattern no longer says that its rows are inside the matrix, so the bound of the last row tile's rows comes back.
/// Is after enumeration, whose cases it merges, and before the mapping: with one body for all patterns, a row tile
/// needs no more than one owner, and its sums no atomic adds between blocks.
/// Refuses a nest that is not enumerated, or only for some of the patterns: the union leaves none out.
LoopNest merge_patterns(const LoopNest& nest, const MergePatterns& directive);

}  // namespace esc
