// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

/// Copies what the iterations of a bitmap multiply to shared memory, several K steps ahead: tiles of B, which the warps
/// of a consumer group share, and packed tiles of A, of which each warp has its own.
///
///   find_packed_tile(..); make_packed_tile_barriers(..);
///   for (u < early_packed_tiles) copy_bitmap_packed_tile(.., u, ..);                      of the first copies of a
///   block for (s < early_tiles) { copy_tile(.., s, ..); if (s < 1) the packed tiles of its other copies;
///   commit_copies(); } for (iteration < iterations)
///     for (half < 2) {
///       wait_for_stage(early_tiles - 1); barrier of the consumer group;
///       copy_tile(step + early_tiles); if (half < 1) copy_bitmap_packed_tile(iteration + early_packed_tiles);
///       commit_copies(); if (..) { if (half < 1) { wait_for_packed_tile(..); find_words(..); } .. }
///     }
///
/// With a step of 256 columns the loop over halves is within one such step, and its first part before it.
///
/// Of warpgroups a K step is a block of 64 columns, and the next one is decoded while one is multiplied, product by
/// product; where B has its rows or columns one after the other tensor copies move its tiles, if they begin at
/// multiples of 16 bytes. After transform(A, bitmap). Throws ScheduleError for another form.
LoopNest pipeline_tiles(const LoopNest& nest, const PipelineTiles& directive);

}  // namespace esc
