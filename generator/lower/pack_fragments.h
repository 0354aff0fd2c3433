// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

/// Takes the columns of a K tile in the order in which they are packed as operands of the sparse tensor core, 32 of 16
/// bits at a time, or 16 of float32, which it multiplies as terms (multiply_split_steps):
///
///   for (k_tile = part; k_tile < k_tiles; k_tile += 2)    for (iteration < iterations)
///     for (slot < 256)                                      its = iteration * 2 + part;
///       for (e) for (v) sums[..] += A[row][k] * B[k][j]; ->  if (its < rounds)
///                                                              round = ...; k_tile = KTiles[round];
///                                                              first_residual, residuals_end = find_residuals(...);
///                                                              for (step < packed_tile_steps; step += 2)
///                                                              multiply_steps(...); add_residuals(...);
///
/// A block has a round for each K tile, and more of one where what a row tile has there does not fit; its rounds begin
/// at different K tiles from block to block, so that they do not all read the same rows of B. After fragment(). Throws
/// ScheduleError where elements are not of 32 bits.
LoopNest pack_fragments(const LoopNest& nest, const PackFragments& directive);

/// The same for the dense tensor core: all elements of a K tile are packed, of each column in its place, 8 columns a
/// step, so that there are no residuals and a block has one round for each K tile.
LoopNest pack_dense(const LoopNest& nest, const PackDense& directive);

/// The same where of all elements each lane has a list of those that are not zero; a
/// block has more than one round for a K tile where what a row tile has there does not fit in its lists.
LoopNest pack_listed(const LoopNest& nest, const PackListed& directive);

}  // namespace esc
