// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

/// map(i, grid): the row loop becomes thread blocks; block b works on row tile b / P and pattern b % P + 1, P = 2^UFi -
/// 1, so that no block has a conditional inside its loops (paper, 3.2.2).
///
///   for (i...; i += 2) for (j) for (k) switch (pattern(A[i..i + 1][k])) { case q: C[i][j] += ..; }
///     -> grid (block < 3*row_tiles) { i = 2 * (block / 3); switch (pattern) { case q: for (j) for (k : columns(i, q))
///        atomicAdd(&C[i][j], ..); } }
///
/// The loop over all k whose column has pattern q becomes a loop over just those columns. The blocks of one row tile
/// add to the same rows of C, so every update becomes atomic here. Is after enumeration, whose cases it distributes.
/// Refuses any loop but an enumerated row loop.
LoopNest map_blocks(const LoopNest& nest, const MapGrid& directive);

}  // namespace esc
