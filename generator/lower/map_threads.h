// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

/// map(j, 32 * WarpTile, threads): a warp takes 32 * WarpTile consecutive columns at a time, lane l the columns l, l +
/// 32, .. among them; the warps of a block take turns (paper, 3.3.1).
///
///   for (j = 0; j < N; j++) .. C[i][j] += A[i][k] * B[k][j];
///     -> lanes (lane < 32) for (j = lane; j < N; j += 64) .. C[i][j] += A[i][k] * B[k][j];
///                                                            if (j + 32 < N) C[i][j + 32] += A[i][k] * B[k][j + 32];
///
/// Lanes touch different columns of C and neighbouring lanes neighbouring elements, so that loads of B and adds to C
/// coalesce. Is after the mapping to blocks: the thread loops open inside the grid.
/// Refuses a loop that is not the column loop, widths that are no multiple of 32 up to 128 and thread counts that are
/// no multiple of 32 up to 256.
LoopNest map_threads(const LoopNest& nest, const MapLanes& directive);

}  // namespace esc
