// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/loop_nest.h"

namespace esc {

// Warps of a block that have roles, as many in each: those of role 0 multiply, those of role 1 copy and place values for them.

/// Whether the warps of the nest have roles.
bool has_roles(const LoopNest& nest);

/// The conditions of branches between roles.
Expression multiplies();
Expression places();

}  // namespace esc
