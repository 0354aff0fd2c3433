// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

/// Takes the elements of 32 columns from packed tiles that store those that are not zero alone, each with its place.
/// The warps that multiply the same K tiles put them into shared memory, where the tensor core reads them for all of
/// these warps, and multiply them when all have:
///
///   for (k_tile = part; k_tile < k_tiles; k_tile += 2)    for (iteration < iterations)
///     for (slot < 32)                                       its = iteration * 2 + part;
///       for (e) for (v) sums[..] += A[row][k] * B[k][j]; ->  if (its < rounds) round = ...;
/// place_split_values(Values[round][place], PlacedA[part], ...);
///                                                            barrier;
///                                                            if (its < rounds) round = ...; k_tile = ...;
/// multiply_split_placed(PlacedA[part], B, ...);
///                                                            barrier;
///
/// Rounds are those of pack_fragments. After fragment(j, N, warp_n=16). Throws ScheduleError where warps have no
/// columns of their own, where K tiles have not 32 columns, where a block has more rows than lanes have registers for,
/// and where elements are not of 32 bits.
LoopNest pack_placed(const LoopNest& nest, const PackPlaced& directive);

}  // namespace esc
