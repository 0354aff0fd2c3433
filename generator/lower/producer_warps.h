// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

/// warp_specialize(B): producer warps issue the copies of a bitmap's product, for consumer warps that multiply: one
/// those of tiles of B, another one, a lane for each consumer warp, those of packed tiles of A.
///
///   for (iteration..) for (step..) {           for (iteration..) for (step..) {
///     wait_for_tile(step);                       if (role is to multiply) wait_for_tile(step);
///     barrier;                             ->    barrier of both;
///     copy_tile_box(step + early_tiles);         if (role is to serve) {
///     multiply; }                                  wait_for_tile_release(..); copy_tile_box(step + tiles_ahead); }
///                                                if (role is to multiply) { multiply; release_tile(step - 1); } }
///
/// The barrier is what those of the stages do: a producer goes on as far as stages are released, and consumer warps
/// wait for copies alone, not for each other. Where a call's B allows no boxes the consumers copy and meet as before.
/// After all steps that change iterations and what follows them, before pdl(). A nest whose tiles are never copied by
/// boxes stays as it is.
LoopNest producer_warps(const LoopNest& nest, const WarpSpecialize& directive);

}  // namespace esc
