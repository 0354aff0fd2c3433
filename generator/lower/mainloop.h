// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

/// Gives row tiles of 16 or 32 rows to the blocks, and the columns of the sparse array in K tiles of 256 to the warps
/// of a row tile:
///
///   for (i < M)                                   blocks (block) warps (part < 2) warps (place < 4)
///     for (j < N)                                   row_tile = block * 4 + place;
///       for (k < K)                                 for (k_tile = part; k_tile < k_tiles; k_tile += 2)
///         C[i][j] += A[i][k] * B[k][j];      ->       for (slot < 256) k = k_tile * 256 + slot;
///                                                       for (u < 16) i = row_tile * 16 + u;
///                                                         for (j < N) if (i < M && k < K) atomicAdd(&C[i][j], ...);
///
/// Each block goes through all of K, so that its sums need no other block. First of its family. Throws ScheduleError
/// where rows are mapped already.
LoopNest mainloop(const LoopNest& nest, const Mainloop& directive);

/// Warps of a row tile of a nest that is streamed so, whether they share K tiles or not.
std::int64_t row_tile_warps(const LoopNest& nest);

/// Whether several warps of a row tile share a K tile in such a nest; then it has the constant k_tile_warps, their
/// number.
bool shares_k_tiles(const LoopNest& nest);

/// Whether an iteration has K tiles for several consumer groups, and no more of them than there are barriers beside
/// that of the block: the warps that multiply the same K tiles may wait for each other alone.
bool waits_in_consumer_groups(const LoopNest& nest);

}  // namespace esc
