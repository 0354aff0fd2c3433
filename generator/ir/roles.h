// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/loop_nest.h"

namespace esc {

// Warps of a block that have roles: those of role 0 multiply, those of role 1 copy, and place values, for them.

/// Whether the warps of the nest have roles.
bool has_roles(const LoopNest& nest);

/// The conditions of branches between roles.
Expression multiplies();
Expression serves();
Node of_those_who_multiply(Block body);
Node of_those_who_serve(Block body);

/// Whether roles meet where copies arrive and are released, each warp by itself.
bool meets_at_copies(const LoopNest& nest);

/// The condition of branches between what is done where tensor copies move B and what where they do not, which is
/// known before all iterations; and a block in which they are decided.
Expression has_boxes();
Block decided(const Block& block, bool boxes);

/// Whether warps behind those that multiply issue copies of tiles of B: those of a call whose B has boxes. Of other
/// calls warps that multiply copy, and meet for that.
bool has_producer_warps(const LoopNest& nest);

}  // namespace esc
