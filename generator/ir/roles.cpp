// SPDX-License-Identifier: Apache-2.0
#include "generator/ir/roles.h"

#include "generator/ir/performed_instructions.h"

namespace esc {

bool has_roles(const LoopNest& nest) { return nest.has_constant("roles"); }

Expression multiplies() { return less(index("role"), 1); }
Expression serves() { return less(0, index("role")); }

bool meets_at_copies(const LoopNest& nest) { return performs(nest, "release_turn"); }

}  // namespace esc
