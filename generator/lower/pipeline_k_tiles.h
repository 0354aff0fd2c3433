// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

/// Has the threads copy K tiles of B, and the packed tiles of the packed matrix that belong to them, to shared memory
/// ahead of their use:
///
///   for (iteration < iterations)                            for (s < 3) stage_packed_tile(iteration s); for (s < 3)
///   stage_k_tiles(iteration s);
/// commit;
///     multiply ...;                         ->    for (iteration < iterations)
///                                                   wait for the copies of this iteration; barrier of the consumer
///                                                   group; stage_packed_tile(iteration + 3); stage_k_tiles(iteration +
///                                                   3); commit; multiply from shared memory ...;
///
/// The threads of a consumer group, the warps that multiply the same K tiles, copy these alone, and so wait for each
/// other alone, where there are no more than 15 consumer groups. The barrier also says that all of them are done with
/// the stage that is copied to. Where columns are no whole vectors, stage_k_tiles leaves a thread's pieces of rows in
/// registers, which store_held writes to shared memory before the next iteration's barrier. Where B is not row-major,
/// stage_columns, stage_elements or stage_patches is in its place: columns, or elements, are copied as they lie.
///
/// After transform(A, sparse24). Throws ScheduleError where the sparse array is not packed so.
LoopNest pipeline_k_tiles(const LoopNest& nest, const PipelineKTiles& directive);

}  // namespace esc
