#pragma once

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

/// reduce() on tasks: every lane adds up in scalars, the sums of the lane groups of a heavy task are added through the
/// registers of its warp (by shuffles), and each element of C is stored once where its row is one task. The tasks of a
/// row that is split still add to it atomically; somebody has set those rows of C to zero.
///
///   grid (block < heavy_blocks) .. lanes (group..) lanes (lane..) { ..;
///     for (c..) { k = ..; atomicAdd(&C[i][j], ..); } }
///     -> grid (block < heavy_blocks) .. lanes (group..) lanes (lane..) { ..; c0_0 = 0;
///          for (c..) { k = ..; c0_0 += ..; } lane_sums[warp][group][lane] = c0_0; }
///        lanes (lane..) { task = ..; i = ..; split = ..; j = ..;
///          sum = 0; for (group..) sum += lane_sums[warp][group][lane];
///          if (0 < split ..) atomicAdd(&C[i][j], sum); if (task < heavy && split < 1 ..) C[i][j] = sum; }
///
/// A light task's sums, and those of a heavy one with one lane group, go to C as they are. Stands after the split,
/// whose parts it joins.
/// Refuses tasks that are not mapped to tiles, or whose sums are reduced already.
LoopNest sum_tasks(const LoopNest& nest, const ReduceSums& directive);

}  // namespace esc
