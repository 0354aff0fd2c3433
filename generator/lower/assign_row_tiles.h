// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

/// row_tiles(i, block=P, warp=Q): a block owns P row tiles, a warp has a place for Q consecutive ones beside each
/// other: a set. Sets go to the blocks in turn; the sets of a block go to different warps, the row tiles of a set to
/// different lanes.
///
///   for (i...; i += 2) for (j) for (k : columns(i, any of 0b11)) ..
///     -> grid (block < blocks) warps (set < block_sets) lanes (place < warp_row_tiles) {
///          tile_slot = (set * blocks + block) * warp_row_tiles + place; row_tile = tile_slot; i = row_tile *
///          row_tile_height; for (j) for (k : columns(i, any of 0b11)) .. }
///
/// There may be tile slots for row tiles that the matrix does not have: their rows are beyond M, their columns none.
/// Every row tile has one owner, so that nothing here is atomic. Is after the merge, which leaves one body per row tile
/// and bounds its rows. Refuses any loop but a merged row loop, fewer than 1 or more than 128 row tiles, a number of
/// row tiles that Q does not divide, more than 32 row tiles beside each other, and more than 16 warps.
LoopNest assign_row_tiles(const LoopNest& nest, const AssignRowTiles& directive);

}  // namespace esc
