// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

/// row_tiles(i, block=P, warp=Q): a block owns P panels, a warp has a place for Q consecutive ones beside each other: a
/// set. Sets go to the blocks in turn; the sets of a block go to different warps, the panels of a set to different
/// lanes.
///
///   for (i...; i += 2) for (j) for (k : columns(i, any of 0b11)) ..
///     -> grid (block < blocks) warps (set < block_sets) lanes (place < warp_panels) {
///          seat = (set * blocks + block) * warp_panels + place; panel = seat; i = panel * panel_height;
///          for (j) for (k : columns(i, any of 0b11)) .. }
///
/// There may be seats for panels that the matrix does not have: their rows are beyond M, their columns none. Every
/// panel has one owner, so that nothing here is atomic. Stands after the merge, which leaves one body per panel and
/// bounds its rows. Refuses any loop but a merged row loop, fewer than 1 or more than 128 panels, a number of panels
/// that Q does not divide, more than 32 panels beside each other, and more than 16 warps.
LoopNest own_panels(const LoopNest& nest, const OwnPanels& directive);

}  // namespace esc
