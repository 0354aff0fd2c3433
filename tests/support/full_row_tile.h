// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "generator/matrix/sparse_matrix.h"

namespace esc::tests {

/// The matrix with a second row tile, of 16 rows, that has all columns of its first K tile for which `has_column`
/// holds, and no others.
SparseMatrix with_full_row_tile(const SparseMatrix& sparse, const std::function<bool(std::int64_t)>& has_column);

}  // namespace esc::tests
