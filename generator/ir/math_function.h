// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace esc {

/// A function of C's mathematics library that a nest may call.
struct MathFunction {
  std::string_view name;               ///< for doubles; that for floats has an f after it
  double (*of_one)(double) = nullptr;  ///< one of the two is not null
  double (*of_two)(double, double) = nullptr;
  /// How far the result for floats may be from the exact one on a GPU, in packed tiles of its last place (CUDA's own
  /// bounds).
  double ulps = 0;

  std::size_t arity() const { return of_one != nullptr ? 1 : 2; }
};

/// All of them, by name.
const std::vector<MathFunction>& math_functions();

/// The function of this name, or null.
const MathFunction* find_math_function(std::string_view name);

}  // namespace esc
