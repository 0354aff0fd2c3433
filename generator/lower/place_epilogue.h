// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

/// Moves what the nest does to each complete sum before the store of that sum:
///
///   store_columns(C[row][at], sums[e], 4, left);    for (w = 0; w < 4; w++)
///   for (i < M) for (j < N) {                         if (row < M && at + w < N) {
///     sum_ = C[i][j];                            ->     sum_ = sums[e + w];
///     C[i][j] = sum_ + bias_[i];                        sums[e + w] = sum_ + bias_[row];
///   }                                                 }
///                                                   store_columns(C[row][at], sums[e], 4, left);
///
/// so that C is written once and read never. What the epilogue reads beside the sum is asked for before the main
/// loop, after copies to shared memory (lower/early_operands); where all of it is, the condition above is left out.
/// Whoever stores a row must have all of its sum: a task of a row is a whole row from here on (LoopNest::whole_rows).
/// Where sums are only rounded, the store does that, and nothing is before it. Throws ScheduleError where the
/// nest has no epilogue, where sums are not stored in vectors, and where parts of a sum are added up in C.
LoopNest place_epilogue(const LoopNest& nest, const PlaceEpilogue& directive);

}  // namespace esc
