// SPDX-License-Identifier: Apache-2.0
#include "generator/ir/roles.h"

#include <utility>

#include "generator/ir/performed_instructions.h"

namespace esc {

bool has_roles(const LoopNest& nest) { return nest.has_constant("roles"); }

Expression multiplies() { return less(index("role"), 1); }
Expression serves() { return less(0, index("role")); }

Node of_those_who_multiply(Block body) { return Node{Branch{multiplies(), std::move(body), {}}}; }
Node of_those_who_serve(Block body) { return Node{Branch{serves(), std::move(body), {}}}; }

bool meets_at_copies(const LoopNest& nest) { return performs(nest, "release_iteration"); }

}  // namespace esc
