// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "generator/ir/expression.h"

namespace esc {

/// What an operation gives for these operands; `all` and `choose`, which do not look at all of theirs, are not among them.
/// Whole numbers are exact up to 2^53.
double calculate(Operator op, const std::vector<double>& operands);

/// What a function of C's mathematics library gives. Throws Defect for one that is not known.
double calculate(const Call& call, const std::vector<double>& arguments);

/// The value of an expression of names and numbers alone. Throws Defect for a name without a value and for anything else.
std::int64_t evaluate_index(const Expression& expression, const Environment& environment);

}  // namespace esc
