// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

// What all ways to store row tiles in fragments have in common: rounds of a block, of which its warps take some in each
// iteration, and packed tiles.

/// What a packed tile has in this array, in the round and at the place of a warp.
Access of_packed_tile(const char* array);

/// Which round and K tile an iteration has: defines turned, round and K tile.
Block round_of_iteration();

/// Done in an iteration that has a round.
Node if_there(Block body);

/// The loop over the iterations of a block, of which each defines its.
Node iterations_loop(Block body);

/// The nest with this loop over iterations in place of the one over K tiles, and with the arrays of packed tiles in
/// place of the sparse one. Throws ScheduleError where the lanes have no sums of a tensor core, and where elements are
/// of 64 bits.
LoopNest store_in_fragments(const LoopNest& nest, const Directive& directive, Node iterations);

/// What the tensor core cannot take of numbers of 32 bits as they are.
const char* description_of_digits(ScalarType element);

}  // namespace esc
