// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "generator/ir/loop_nest.h"
#include "generator/verify/operands.h"

namespace esc {

/// A number in double, and how far the same computation in the nest's type may be from it.
struct Bounded {
  double value = 0;
  double error = 0;
};

/// What the nest's epilogue makes of the sum of element (row, column) of C, by a running error analysis: each operation
/// takes the errors of its operands over and adds its own rounding. Where rounding may turn a comparison, both ways
/// count. The error is infinite where nothing can be said: near a pole, or beyond the type's numbers. The nest must
/// have an epilogue.
Bounded finish(const LoopNest& nest, const std::vector<Operand>& operands, std::int64_t row, std::int64_t column,
               Bounded sum);

}  // namespace esc
