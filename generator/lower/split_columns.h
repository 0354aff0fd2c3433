// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

/// split_k(k, warps=W, lane_groups=G): the columns of a row tile are dealt in turn to W * G parts. Part G * part +
/// group is that of one lane group of one warp, and takes every (W * G)-th column from its own number on.
///
///   lanes (place..) lanes (lane..) { .. for (k : columns(i, any of 0b11)) for (u..) for (v..) C[i + u][j + v] += ..; }
///     -> warps (part < row_tile_warps) lanes (place..) lanes (group < sharing_groups) lanes (lane..) { ..
///          count = size(columns(i, any of 0b11));
///          for (c = G * part + group; c < count; c += W * G) { k = columns(i, any of 0b11)[c];
///            for (u..) for (v..) if (i + u < M && j + v < N) atomicAdd(&C[i + u][j + v], ..); } }
///
/// The parts add to the same elements of C: the adds become atomic here, until the sums are joined. Dealing in turn
/// keeps the parts of one row tile equally long but for one column. Is after the columns of C are mapped, whose lanes
/// lie inside a group.
/// Refuses loops other than the enumerated one, more warps in a block than 16, and more lanes than a warp has.
LoopNest split_columns(const LoopNest& nest, const SplitColumns& directive);

}  // namespace esc
