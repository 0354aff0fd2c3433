#pragma once

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

/// split(k, warps=1, groups=G) on tasks: the non-zeros of a heavy task are dealt in turn to the G lane groups of its
/// warp. Light tasks stay as they are.
///
///   grid (block < heavy_blocks) .. warps (warp..) lanes (lane..) { ..; for (c = 0; c < length; c++) { .. } }
///     -> grid (block < heavy_blocks) .. warps (warp..) lanes (group < G) lanes (lane..) { ..;
///          for (c = group; c < length; c += G) { .. } }
///
/// Stands after the columns are mapped, which says how many lanes a group has.
/// Refuses tasks that are not mapped to tiles, a loop other than that over their non-zeros, several warps, more groups
/// than the warp has room for, and a second split.
LoopNest share_tasks(const LoopNest& nest, const SplitColumns& directive);

}  // namespace esc
