// SPDX-License-Identifier: Apache-2.0
#include "tests/support/full_row_tile.h"

#include <cstddef>

#include "generator/schedule/stream_schedule.h"

namespace esc::tests {

SparseMatrix with_full_row_tile(const SparseMatrix& sparse, const std::function<bool(std::int64_t)>& has_column) {
  SparseMatrix matrix{sparse.rows, sparse.columns, {0}, {}, {}, sparse.element};
  for (std::int64_t row = 0; row < sparse.rows; ++row) {
    const auto begin = static_cast<std::ptrdiff_t>(sparse.offsets[static_cast<std::size_t>(row)]);
    const auto end = static_cast<std::ptrdiff_t>(sparse.offsets[static_cast<std::size_t>(row) + 1]);
    if (row / StreamSchedule::m16_tile_rows == 1) {
      for (std::int32_t column = 0; column < StreamSchedule::k_tile_columns; ++column) {
        if (has_column(column)) {
          matrix.column_of.push_back(column);
          matrix.values.push_back(static_cast<double>((row + column) % 3 + 1));
        }
      }
    } else {
      matrix.column_of.insert(matrix.column_of.end(), sparse.column_of.begin() + begin, sparse.column_of.begin() + end);
      matrix.values.insert(matrix.values.end(), sparse.values.begin() + begin, sparse.values.begin() + end);
    }
    matrix.offsets.push_back(matrix.nonzeros());
  }
  return matrix;
}

}  // namespace esc::tests
