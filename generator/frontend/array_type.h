// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "generator/frontend/polynomial.h"
#include "generator/frontend/scope.h"

namespace esc::frontend {

/// What an array or pointer was declared as: the extents that its type names, from the outermost dimension (nothing for
/// a pointer and for []), and the type of its elements.
struct ArrayType {
  std::vector<std::optional<Polynomial>> extents;
  ScalarType element = ScalarType::f32;
};

/// What is asked of the elements: numbers to compute with, or integers of any width, which are all i32 in a nest.
enum class Elements { numbers, integers };

/// Refuses elements that are none of float, double, _Float16 and __bf16, or no integers, at `use`.
ArrayType read_array_type(const clang::VarDecl& array, const clang::Expr& use, const Variables& variables,
                          Elements elements = Elements::numbers);

}  // namespace esc::frontend
