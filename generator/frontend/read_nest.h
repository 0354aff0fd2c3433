// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <vector>

#include "generator/frontend/read_action.h"
#include "generator/frontend/refusal.h"
#include "generator/ir/loop_nest.h"
#include "generator/lower/assign_roles.h"

namespace esc::frontend {

/// A nest, and where its parts are in the source.
struct WrittenNest {
  LoopNest nest;
  std::map<NestPart, Place> places;
};

/// The statements of a function in their loops, with the function's own names and order, and with roles for neither
/// loops nor arrays. What subscripts and bounds load from arrays of integers are definitions of indices. The actions
/// are what the function does, in the order of the text; `function` is where its name is. Refuses two arrays of one
/// name: the nest knows things by name alone.
WrittenNest read_nest(const std::vector<Action>& actions, clang::SourceLocation function);

}  // namespace esc::frontend
