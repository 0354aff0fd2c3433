// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <variant>
#include <vector>

#include "generator/frontend/read_value.h"
#include "generator/frontend/walk_function.h"

namespace esc::frontend {

/// What is added to or set: an element of an array, or a local number.
using Target = std::variant<ArrayElement, const clang::VarDecl*>;

/// target += the product of two elements, in loops that go over the same target again.
struct Gather {
  Target target;
  std::vector<ArrayElement> factors;
};
/// target = value, or target += value, of an element or a local that the loops around do not come back to.
struct Assign {
  Target target;
  WrittenValue value;
  bool adds = false;
};

/// A constant local integer, which is a definition of the nest where indices are made of it and it is loaded from an
/// array.
struct Index {
  const clang::VarDecl* local = nullptr;
};

struct Action {
  std::variant<Gather, Assign, Index> content;
  Scope scope;
  clang::SourceLocation place;
};

/// Reads what a function does, in the order of the text. What gathers is told by its loops: one of them does not index
/// the element that is added to, or the local was set outside of them. Constant locals have an action where a value
/// names them; where they are factors, they are read in their place. Refuses all but the actions above; of what
/// gathers, other operators, sums, calls, more or fewer than two factors, and factors that are not elements.
std::vector<Action> read_actions(const std::vector<Effect>& effects);

}  // namespace esc::frontend
