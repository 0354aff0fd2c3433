// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "generator/ir/expression.h"

namespace esc {

/// What an operation gives for these operands; `all` and `choose`, which do not look at all of theirs, are not among
/// them. Whole numbers are exact up to 2^53. Throws Defect where there are fewer operands than it takes.
double calculate(Operator op, std::span<const double> operands);

/// What a function of C's mathematics library gives. Throws Defect for one that is not known.
double calculate(const Call& call, std::span<const double> arguments);

/// The value of an expression of names and numbers alone. Throws Defect for a name without a value and for anything
/// else.
std::int64_t evaluate_index(const Expression& expression, const Environment& environment);

}  // namespace esc
