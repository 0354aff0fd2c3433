// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "generator/ir/loop_nest.h"

namespace esc {

/// The nest as C-like text, two spaces a level; what dumps, tests and errors show. Loops that are mapped to the GPU
/// are printed as `grid`, `warps` and `lanes` in place of `for`, and constants and what every block or thread has of
/// its own are in front.
std::string print(const LoopNest& nest);
std::string print(const Block& block, int level = 0);
std::string print(const Access& access);
std::string print(const Expression& expression);
std::string print(const Guard& guard);

/// The polyhedral view of a nest: one line per statement with its scope (number of loops around it), the loops around
/// it with their bounds and roles, and each array's access function as a dictionary per dimension.
std::string print_iteration_space(const LoopNest& nest);

}  // namespace esc
