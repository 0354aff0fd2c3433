// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

// What all ways to store panels in fragments have in common: rounds of a block, of which its warps take some in each
// turn, and units.

/// What a unit has in this array, in the round and at the place of a warp.
Access of_unit(const char* array);

/// Which round and window a turn has: defines turned, round and window.
Block round_of_turn();

/// Done in a turn that has a round.
Node if_there(Block body);

/// The loop over the turns of a block, of which each defines its.
Node turns_loop(Block body);

/// The nest with this loop over turns in place of the one over windows, and with the arrays of units in place of the
/// sparse one. Throws ScheduleError where the lanes have no sums of a tensor core, and where elements are of 64 bits.
LoopNest store_in_fragments(const LoopNest& nest, const Directive& directive, Node turns);

/// What the tensor core cannot take of numbers of 32 bits as they are.
const char* story_of_digits(ScalarType element);

}  // namespace esc
