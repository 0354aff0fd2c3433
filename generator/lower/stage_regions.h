#pragma once

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

/// stage(A): a warp copies its region to shared memory before it reads it, so that the loads of the whole region are
/// under way together, and no lane waits for a column before it asks for the next.
///
///   warps (warp..) lanes (group..) { region = ..; steps = Steps[region]; .. Columns[region][step][group] .. }
///     -> warps (warp..) lanes (lane < 32) { region = ..; if (lane < 1) StagedSteps[warp] = Steps[region]; ..
///          for (step = lane; step < steps; step += 32) for (group..) StagedColumns[warp][step][group] = ..; }
///        warps (warp..) lanes (group..) { steps = StagedSteps[warp]; .. StagedColumns[warp][step][group] .. }
///
/// Every warp reads what it copied itself: the lanes of a warp wait for each other, not the warps of a block. Stands
/// last, because it says where a region is read from and not what is read.
/// Refuses arrays that are not stored in regions, and staging twice.
LoopNest stage_regions(const LoopNest& nest, const StageRegions& directive);

}  // namespace esc
