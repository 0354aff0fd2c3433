// SPDX-License-Identifier: Apache-2.0
#include "generator/ir/roles.h"

namespace esc {

bool has_roles(const LoopNest& nest) { return nest.has_constant("roles"); }

Expression multiplies() { return less(index("role"), 1); }
Expression places() { return less(0, index("role")); }

}  // namespace esc
