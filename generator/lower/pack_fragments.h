// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

/// Takes the columns of a window in the order in which they are packed as operands of the sparse tensor core, 32 of 16
/// bits at a time, or 16 of float32, which it multiplies as terms (multiply_split_steps):
///
///   for (window = part; window < windows; window += 2)    for (turn < turns)
///     for (slot < 256)                                      its = turn * 2 + part;
///       for (e) for (v) sums[..] += A[row][k] * B[k][j]; ->  if (its < rounds)
///                                                              round = ...; window = Windows[round];
///                                                              first_extra, behind_extras = find_extras(...);
///                                                              for (step < unit_steps; step += 2) multiply_steps(...);
///                                                              add_extras(...);
///
/// A block has a round for each window, and more of one where what a panel has there does not fit; its rounds begin at
/// different windows from block to block, so that they do not all read the same rows of B. Behind fragment(). Throws
/// ScheduleError where elements are of 64 bits, which this tensor core does not multiply.
LoopNest pack_fragments(const LoopNest& nest, const PackFragments& directive);

/// The same for the dense tensor core: all elements of a window are packed, of each column in its place, 8 columns a
/// step, so that there are no extras and a block has one round for each window. Throws ScheduleError where elements are
/// not of 32 bits, too: of 16 bits steps of the sparse tensor core have fewer bytes.
LoopNest pack_dense(const LoopNest& nest, const PackDense& directive);

/// The same, 16 columns a step of 16 bits, where of all elements each lane has a list of those that are not zero; a
/// block has more than one round for a window where what a panel has there does not fit in its lists.
LoopNest pack_listed(const LoopNest& nest, const PackListed& directive);

}  // namespace esc
