// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

/// Copies what the turns of a bitmap multiply to shared memory, several K steps ahead: tiles of B, which the warps of a
/// team share, and units of A, of which each warp has its own.
///
///   find_packed_tile(..); make_packed_tile_barriers(..);
///   for (u < early_packed_tiles) copy_bitmap_unit(.., u, ..);                      of the first copies of a block
///   for (s < early_tiles) { copy_tile(.., s, ..); if (s < 1) the units of its other copies; commit_copies(); }
///   for (turn < turns)
///     for (half < 2) {
///       wait_for_stage(early_tiles - 1); barrier of the team;
///       copy_tile(step + early_tiles); if (half < 1) copy_bitmap_unit(turn + early_packed_tiles); commit_copies();
///       if (..) { if (half < 1) { wait_for_packed_tile(..); find_words(..); } .. }
///     }
///
/// With a step of 256 columns the loop over halves is within one such step, and its first part in front of it.
///
/// Of warpgroups a K step is a block of 64 columns, and the next one is decoded while one is multiplied, product by
/// product; where B has its rows or columns one behind the other tensor copies move its tiles, if they begin at
/// multiples of 16 bytes. Behind transform(A, bitmap). Throws ScheduleError for another form.
LoopNest pipeline_tiles(const LoopNest& nest, const PipelineTiles& directive);

}  // namespace esc
