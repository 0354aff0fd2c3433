// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

/// Has the threads copy windows of B, and the units of the packed matrix that belong to them, to shared memory ahead of
/// their use:
///
///   for (turn < turns)                            for (s < 3) stage_unit(turn s); for (s < 3) stage_windows(turn s);
/// commit;
///     multiply ...;                         ->    for (turn < turns)
///                                                   wait for the copies of this turn; barrier of the team;
///                                                   stage_unit(turn + 3); stage_windows(turn + 3); commit;
///                                                   multiply from shared memory ...;
///
/// The threads of a team, the warps that multiply the same windows, copy these alone, and so wait for each other alone,
/// where there are no more than 15 teams. The barrier also says that all of them are done with the stage that is copied
/// to. Where columns are no whole vectors, stage_windows leaves a thread's pieces of rows in registers, which
/// store_held writes to shared memory in front of the next turn's barrier. Where B is not row-major, as in PyTorch's
/// layout, its windows cannot be copied as they are: a warp loads its own into registers, stores it in rows in the next
/// turn, and multiplies it in the one after:
///
///     transpose_window(turn + 1); load_window(turn + 2);
///
/// Behind transform(A, sparse24). Throws ScheduleError where the sparse array is not packed so.
LoopNest pipeline_windows(const LoopNest& nest, const PipelineWindows& directive);

}  // namespace esc
