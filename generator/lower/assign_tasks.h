// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

/// assign(task, warps=P, lane_groups=G): blocks of P warps take the tasks. The first blocks take heavy ones, one with
/// each warp, whose G lane groups share its non-zeros; the others light ones, one with each lane group.
///
///   for (task = 0; task < tasks; task++) { i = Rows[task]; ..; for (j) for (c = 0; c < length; c++) { k = ..; C[i][j]
/// += ..; } }
///     -> grid (block < blocks) warps (warp_of_block < block_warps) lanes (group < sharing_groups) {
///          is_heavy = block < heavy_blocks; task = is_heavy ? .. : ..; present = task < (is_heavy ? heavy : tasks);
///          first, i, length, split = load_task(.., task);   // nothing where it is not present
///          stride = is_heavy ? G : 1; start = is_heavy ? group : 0;
///          for (j) for (c = start; c < length; c += stride) { k = ..; atomicAdd(&C[i][j], ..); } }
///
/// The adds are atomic, because a row may have several tasks; `split` says whether it has. Is after the data
/// transformation, which makes the heavy tasks the first ones. Refuses any loop but that over tasks, and more than 16
/// warps or 32 groups.
LoopNest assign_tasks(const LoopNest& nest, const AssignTasks& directive);

}  // namespace esc
