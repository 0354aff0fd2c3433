// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "generator/ir/loop_nest.h"

namespace esc {

// The sums that the tensor core leaves with a lane, four of each 16 rows and 8 columns, where they are handed over for others to add.

/// The lane's first four sums, of those of all panels of a block that one warp of each leaves: defines place_of_lane.
Node define_place_of_lane();

/// What is done for each four of the lane's sums, by their number t.
Node each_four(Node node);
Access four_sums();

/// The place of these in what somebody has left in an array [who][block_sums].
Access left_sums(const std::string& array, const Affine& who);

/// Adds to the lane's sums what `others` have left there, in the order of their numbers.
Node add_left_sums(const std::string& array, const std::string& others);

/// Declares that array, of so many who leave sums there, with the constant block_sums where the nest has none yet.
void declare_left_sums(LoopNest& nest, const std::string& array, const std::string& others, ArrayRole role);

/// The number of a warp in its panel, the first of which adds.
Expression number_of_warp(const LoopNest& nest);

}  // namespace esc
