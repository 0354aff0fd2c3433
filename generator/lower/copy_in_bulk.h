// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

/// Has one thread ask for what many have copied, where the GPU has an engine for bulk copies:
///
///   for (s < 3) stage_packed_tile(iteration s);               make_barriers; barrier;
///   for (s < 3) stage_k_tiles(iteration s); ...        for (s < 3) copy_packed_tile(iteration s);
///   for (iteration < iterations)                       ->   for (s < 3) copy_k_tiles(iteration s); ...
///     wait; barrier;                              for (iteration < iterations)
///     stage_packed_tile(iteration + 3); ...                     wait; barrier;
///     if (its < rounds)                             copy_packed_tile(iteration + 3); ...
///       multiply from shared memory ...;            if (its < rounds)
///                                                     wait_for_operands(iteration);
///                                                     multiply from shared memory ...;
///
/// Nothing else moves: the barrier of an iteration still says that everybody is done with the stage that is copied to.
/// K tiles of B stay with the lanes where their elements are read one by one, and where a row of theirs has 8 columns
/// alone, for which the engine is slower.
///
/// After pipeline(), whose loop and copies it changes. Throws ScheduleError where nothing is copied ahead.
LoopNest copy_in_bulk(const LoopNest& nest, const CopyInBulk& directive);

/// The same as copy_in_bulk for packed tiles alone: the engine takes a time for each row of a K tile, however short it
/// is, in which the lanes of a consumer group copy several.
LoopNest copy_packed_tiles_in_bulk(const LoopNest& nest, const CopyPackedTiles& directive);

}  // namespace esc
