// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

/// reduce_warps(): the warps of a row tile leave their sums in shared memory; after a barrier each thread adds up those
/// of some elements of C and stores them once.
///
///   for (c..) ..; .. for (w..) if (row < M && at + w < N) atomicAdd(&C[row][at + w], sums[e + w]);
///     -> for (s = 0; s < stores; s++) { tile_slot_of_store = ..; stored_row_tiles[s] = tile_slot_of_store; }
///        for (c..) ..; .. for (w..) shared_sums[part][place_in_block + w] = sums[e + w];
///        barrier;
///        for (s = 0; s < stores; s++) { output = first_output + s * outputs_at_once; if (output < outputs) {
///          for (w..) total[w] = shared_sums[0][output + w];
///          for (other = 1; other < row_tile_warps; other++) for (w..) total[w] += shared_sums[other][output + w];
///          row = stored_row_tiles[s] * row_tile_height + ..; at = ..;
///          for (w..) if (row < M && at + w < N) C[row][at + w] = total[w]; } }
///
/// A thread takes consecutive elements where there are enough for all threads. Which row tiles it stores is settled
/// early, in case that has to be looked up. From here on nothing is added
/// atomically, and C need not be zero beforehand. Is after the shuffles, which leave each warp with one sum per
/// element. Refuses tasks, row tiles of one warp, and sums that are not shuffled or already shared.
LoopNest share_sums(const LoopNest& nest, const ShareSums& directive);

}  // namespace esc
