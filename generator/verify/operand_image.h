// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "generator/verify/operands.h"

namespace esc {

/// That of a matrix without gaps.
std::int64_t leading_dimension(const Operand& operand);

/// The elements of a vector or a matrix in the order in which they lie in memory, without gaps.
std::vector<double> in_memory(const Operand& operand);

}  // namespace esc
