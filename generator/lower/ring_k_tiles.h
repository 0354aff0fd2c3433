// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

/// pipeline(k, 4) of gathered rows: K tiles of B are in shared memory, four of them in a ring, with the lists of two
/// iterations, from which lanes gather rows of B. A further warp asks for both.
///
///   for (k_tile..) { steps = ListSteps[..][k_tile][..]; for (step..) .. ListValues[..][step].. * B[k][..]; }
///     -> for (k_tile..) {
///          if (role is to serve) { wait until iteration K tile - 2 is released; copy its lists and the K tile after; }
///          barrier of both;
///          if (role is to multiply) { multiply_gathered(StagedListSteps, .., StagedB, ..); release; } }
///
/// A list names rows of B of the K tile before, which is there still, and of the one after, which is there already.
/// The barrier is what the copies' own barriers do: who serves goes on as far as iterations are released.
/// Is after transform(A, gathered). Refuses another number of stages, and K tiles that are copied already.
LoopNest ring_k_tiles(const LoopNest& nest, const PipelineKTiles& directive);

}  // namespace esc
