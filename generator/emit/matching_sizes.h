// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "generator/ir/loop_nest.h"

namespace esc {

/// What the nest counts in numbers alone must be the matrix's, and bCol. Throws UserError where it is not.
void require_matching_sizes(const LoopNest& nest, std::int64_t rows, std::int64_t columns, std::int64_t bcol);

}  // namespace esc
