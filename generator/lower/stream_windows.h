// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

/// Gives panels of 16 or 32 rows to the blocks, and the columns of the sparse array in windows of 256 to the warps of a
/// panel:
///
///   for (i < M)                                   blocks (block) warps (part < 2) warps (place < 4)
///     for (j < N)                                   panel = block * 4 + place;
///       for (k < K)                                 for (window = part; window < windows; window += 2)
///         C[i][j] += A[i][k] * B[k][j];      ->       for (slot < 256) k = window * 256 + slot;
///                                                       for (u < 16) i = panel * 16 + u;
///                                                         for (j < N) if (i < M && k < K) atomicAdd(&C[i][j], ...);
///
/// Each block goes through all of K, so that its sums need no other block. First of its family. Throws ScheduleError
/// where rows are mapped already.
LoopNest stream_windows(const LoopNest& nest, const StreamWindows& directive);

/// Warps of a panel of a nest that is streamed so, whether they share windows or not.
std::int64_t panel_warps(const LoopNest& nest);

/// Whether several warps of a panel share a window in such a nest; then it has the constant window_warps, their number.
bool shares_windows(const LoopNest& nest);

/// Whether a turn has windows for several teams, and no more of them than there are barriers beside that of the block:
/// the warps that multiply the same windows may wait for each other alone.
bool waits_in_teams(const LoopNest& nest);

}  // namespace esc
