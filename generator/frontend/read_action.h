#pragma once

#include <variant>
#include <vector>

#include "generator/frontend/walk_function.h"

namespace esc::frontend {

/// What is added to or set: an element of a matrix, or a local number that gathers one.
using Target = std::variant<MatrixElement, const clang::VarDecl*>;

bool same_target(const Target& left, const Target& right);

/// target += the product of two elements.
struct Accumulate {
  Target target;
  std::vector<MatrixElement> factors;
};
/// target = 0.
struct SetToZero {
  Target target;
};
/// target = local, or target += local.
struct Store {
  MatrixElement target;
  const clang::VarDecl* local = nullptr;
};

struct Action {
  std::variant<Accumulate, SetToZero, Store> content;
  Scope scope;
  clang::SourceLocation place;
};

/// Reads what an effect does. Refuses all but the three actions above: other operators, sums, calls, more or fewer than
/// two factors, factors that are not elements.
Action read_action(const Effect& effect);

}  // namespace esc::frontend
