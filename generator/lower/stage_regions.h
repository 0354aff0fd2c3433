#pragma once

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

/// stage(A): a warp copies its region to shared memory before it reads it, past the registers, so that the loads of the
/// whole region are under way together, and no lane waits for a column before it asks for the next.
///
///   region = ..; quads = count_quads(Steps, region); for (quad..) { .. load_quad(current[q], Columns, Values, region, ..) .. }
///     -> region = ..; copy = stage_region(Steps, Columns, Values, region, Staged.., warp);
///        wait_for_copies(); barrier of the warp;
///        quads = count_quads(StagedSteps, copy); for (quad..) { .. load_quad(.., StagedColumns, StagedValues, copy, ..) .. }
///
/// Every warp reads what it copied itself: the lanes of a warp wait for each other, not the warps of a block. Stands
/// after the columns of A are batched, because it says where a region is read from and not what is read.
/// Refuses arrays that are not stored in regions or not batched, and staging what is prefetched or staged.
LoopNest stage_regions(const LoopNest& nest, const StageRegions& directive);

}  // namespace esc
