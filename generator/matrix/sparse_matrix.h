// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "generator/ir/scalar_type.h"
#include "generator/support/limits.h"

namespace esc {

/// A sparse matrix of M rows and K columns in compressed sparse row form (CSR). Whatever type its elements have in a
/// kernel, the values are held as doubles, each exactly a value of that type.
///
/// Invariants, which every reader establishes and `validate` checks: 1 <= rows, columns < 2^31; `offsets` has rows + 1
/// entries, starts at 0, never decreases and ends at `column_of.size()`; within a row the column indices increase
/// strictly and lie in [0, columns); no stored value is +0 or -0 and, unless the user allowed it, none is NaN or
/// infinite.
struct SparseMatrix {
  std::int64_t rows = 0;                 ///< M
  std::int64_t columns = 0;              ///< K
  std::vector<std::int64_t> offsets;     ///< rows + 1 entries: where each row starts in the two arrays below
  std::vector<std::int32_t> column_of;   ///< per non-zero, in row order
  std::vector<double> values;            ///< per non-zero, in row order
  ScalarType element = ScalarType::f32;  ///< type of the values in a kernel

  std::int64_t nonzeros() const { return static_cast<std::int64_t>(column_of.size()); }
  /// Non-zeros of a row.
  std::int64_t row_length(std::int64_t row) const {
    return offsets[static_cast<std::size_t>(row) + 1] - offsets[static_cast<std::size_t>(row)];
  }
  /// Most non-zeros of a row.
  std::int64_t longest_row() const {
    std::int64_t longest = 0;
    for (std::int64_t row = 0; row < rows; ++row) {
      longest = std::max(longest, row_length(row));
    }
    return longest;
  }
  /// Share of zeros, 0 to 1.
  double sparsity() const {
    return 1.0 - static_cast<double>(nonzeros()) / (static_cast<double>(rows) * static_cast<double>(columns));
  }

  bool operator==(const SparseMatrix&) const = default;
};

/// Throws Defect when the invariants above do not hold (finite values are not asked for).
void validate(const SparseMatrix& matrix);

}  // namespace esc
