// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

/// shuffle(): the sums of the lane groups that share columns are added through the registers of their warp. A group is
/// left with some of them, kept_sums from first_sum on, the same in `copies` groups, the first of which hands them on.
///
///   for (e = 0; e < lane_sums; e += vector_width) { row = i + e / vector_width; .. atomicAdd(&C[row][at + w], sums[e +
/// w]); }
///     -> first_sum = add_groups(sums, group);
///        if (group % copies < 1) for (e = 0; e < kept_sums; e += stored_width) {
///          row = i + (e + first_sum) / vector_width; .. C[row][at + w] = sums[e + w]; }
///
/// What no other warp adds to is stored from here on. Of tasks only the heavy ones are shared: the light ones go to C
/// as they are, rows that are one task are stored, and a nest in front sets just the rows that are split to zero.
/// Is after the sums are in registers. Refuses sums that are not in registers, and adding them up twice.
LoopNest shuffle_sums(const LoopNest& nest, const ShuffleSums& directive);

}  // namespace esc
