// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "generator/ir/loop_nest.h"

namespace esc {

// The sums that the tensor core leaves with a lane, four of each 16 rows and 8 columns, where they are handed over for
// others to add.

/// Whether the warps that multiply the same K tiles have columns of C each, in the rows of all row tiles, in place of
/// the rows of a row tile. Then the nest has the constant warp_columns, their number, and defines consumer_group_warp,
/// the number of a warp among them.
bool has_own_columns(const LoopNest& nest);

/// The number of a lane in its warp.
Expression lane_of_warp(const LoopNest& nest);

/// The lane's first four sums, of those of all rows of a block that warps leave for one of them: defines place_of_lane.
Node define_place_of_lane(const LoopNest& nest);

/// What is done for each four of the lane's sums, by their number t.
Node each_four(Node node);
Access four_sums();

/// The place of these in the sums of a block.
Affine place_of_four();
/// The same in what somebody has left in an array [who][block_sums].
Access left_sums(const std::string& array, const Affine& who);

/// Adds to the lane's sums what `others` have left there, in the order of their numbers.
Node add_left_sums(const std::string& array, const std::string& others);

/// Declares the constant block_sums, the sums of all rows of a block, where the nest has none yet.
void declare_block_sums(LoopNest& nest);
/// Declares that array in shared memory, of so many who leave sums there.
void declare_left_sums(LoopNest& nest, const std::string& array, const std::string& others);

/// The number of a warp among those that have sums of the same elements, the first of which adds, and how many these
/// are.
Expression number_of_warp(const LoopNest& nest);
std::int64_t adding_warps(const LoopNest& nest);

}  // namespace esc
