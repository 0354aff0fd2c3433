// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/loop_nest.h"

namespace esc {

/// Whether warps go their own ways from this node on.
bool parts_roles(const Node& node);

/// Whether the threads of a block meet after the loop over iterations.
bool meets_behind_iterations(const LoopNest& nest);

/// What warps of one role do of what stands behind where they part, consumers or those that serve them. Each role has
/// code of its own, also for the same loop, so that the compiler gives each the registers that it needs. Where the
/// threads of the block meet after the iterations, those who serve have nothing left to do.
Block code_of_role(const LoopNest& nest, const Block& parted, bool consumers);

}  // namespace esc
