// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

/// accumulate(): every part of a row tile or of a task adds up in registers and gives its sums to C once, in the end.
///
///   for (c..) { k = ..; for (u..) for (v..) if (i + u < M && j + v < N) atomicAdd(&C[i + u][j + v], ..); }
///     -> registers sums = 0;
///        for (c..) { k = ..; for (u..) for (v..) if (i + u < M && j + v < N) sums[V * u + v] += ..; }
///        for (e = 0; e < lane_sums; e += vector_width) { row = i + e / vector_width; at = j + e % vector_width;
///          for (w = 0; w < vector_width; w++) if (row < M && at + w < N) atomicAdd(&C[row][at + w], sums[e + w]); }
///
/// Where one part has all of an element it is stored. Of tasks it is, too, where a row is one task that one lane group
/// has. Is after the columns of A are dealt to parts.
/// Refuses a nest without such a loop, and sums that are in registers already.
LoopNest accumulate_sums(const LoopNest& nest, const AccumulateSums& directive);

}  // namespace esc
