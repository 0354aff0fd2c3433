#pragma once

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

/// reduce(): every part of a panel adds up in scalars; the sums of its lane groups are added through the registers of
/// the warp (by shuffles), those of its warps through shared memory, and each element of C is stored once.
///
///   warps (warp..) lanes (group..) lanes (lane..) { .. for (c..) { k = ..; if (..) atomicAdd(&C[i][j], ..); } }
///     -> warps (warp..) lanes (group..) lanes (lane..) { .. c0_0 = 0; for (c..) { k = ..; if (..) c0_0 += ..; }
///          lane_sums[warp][group][0][lane] = c0_0; }
///        warps (warp..) lanes (lane..) { sum = 0; for (group..) sum += lane_sums[warp][group][0][lane];
///          warp_sums[warp][0][lane] = sum; }
///        lanes (lane..) { .. sum = 0; for (warp..) sum += warp_sums[warp][0][lane]; if (..) C[i][j] = sum; }
///
/// The phases wait for each other. One lane group per panel and warp needs no lane_sums, one warp no warp_sums, and one
/// of both stores its scalars. From here on C need not be zero beforehand: rows without non-zeros are stored too.
/// Stands after the split, whose parts it joins, and before the data transformation, which touches only the first
/// phase.
/// Refuses a nest whose columns are not split, or whose sums are reduced already.
LoopNest reduce_sums(const LoopNest& nest, const ReduceSums& directive);

}  // namespace esc
