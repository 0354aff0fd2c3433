#pragma once

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

/// map(task, grid, warps=P, groups=G): blocks of P warps take the tasks. Each warp has one heavy task or, with each of
/// its G lane groups, a light one.
///
///   for (task = 0; task < tasks; task++) { i = Rows[task]; ..; for (j) for (c..) { k = ..; C[i][j] += ..; } }
///     -> grid (block < heavy_blocks) warps (warp < P) { task = P * block + warp;
///          i = task < heavy ? Rows[task] : 0; ..; for (j) for (c..) { k = ..; atomicAdd(&C[i][j], ..); } }
///        grid (block < light_blocks) warps (warp < P) lanes (group < G) {
///          task = heavy + P * G * block + G * warp + group; i = task < tasks ? Rows[task] : 0; .. the same .. }
///
/// The blocks of both grids run beside each other, in one launch. A thread without a task has an empty one of row 0.
/// The adds are atomic, because a row may have several tasks; `split` says whether it has. Stands after the data
/// transformation, which makes the heavy tasks the first ones.
/// Refuses any loop but that over tasks, and more than 16 warps or 32 groups.
LoopNest map_tasks(const LoopNest& nest, const MapTasks& directive);

/// Whether tasks are mapped to the grid.
bool has_tasks(const LoopNest& nest);

}  // namespace esc
