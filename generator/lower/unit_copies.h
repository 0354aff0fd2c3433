// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "generator/ir/loop_nest.h"

namespace esc {

// How a warp copies units of a bitmap to shared memory, several turns ahead. What is written here names its unit_panel,
// its first_window and its copy in a stage.

/// What a unit is made of: each has a copy of the same kind in shared memory.
const std::vector<std::string>& unit_arrays();

/// Whether a warp has a unit in this window. Warpgroups have all warps: those without a panel have the unit of the last
/// one.
Expression has_unit(const LoopNest& nest, const Expression& window);

/// Asks where the unit of a turn is, a turn before it is copied, so that nothing waits for that.
Node find_unit(const LoopNest& nest, const Expression& turn);

/// Copies the unit of a turn to a stage, and asks where the next one is.
Block copy_of_unit(const LoopNest& nest, const Expression& turn, const Expression& stage);

}  // namespace esc
