// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "generator/ir/loop_nest.h"

namespace esc {

// How a warp copies packed tiles to shared memory, several iterations ahead. What is written here names its
// packed_tile_row_tile, its first_k_tile and its copy in a stage.

/// What a packed tile of the nest is made of: each has a copy of the same kind in shared memory.
const std::vector<std::string>& packed_tile_arrays(const LoopNest& nest);

/// Whether a warp has a packed tile in this K tile. Warpgroups have all warps: those without a row tile have the packed
/// tile of the last one.
Expression has_packed_tile(const LoopNest& nest, const Expression& k_tile);

/// Asks where the packed tile of this number is: row tile times K tiles plus K tile.
Node place_of_packed_tile(const LoopNest& nest, const Expression& number, const char* packed_tile = "packed_tile");

/// Asks where the packed tile of an iteration is, an iteration before it is copied, so that nothing waits for that.
Node find_packed_tile(const LoopNest& nest, const Expression& iteration);

/// Copies the packed tile of an iteration to a stage, and asks where the next one is.
Block copy_of_packed_tile(const LoopNest& nest, const Expression& iteration, const Expression& stage);

}  // namespace esc
