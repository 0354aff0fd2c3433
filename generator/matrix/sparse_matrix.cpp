// SPDX-License-Identifier: Apache-2.0
#include "generator/matrix/sparse_matrix.h"

#include <fmt/format.h>

#include <cstddef>

#include "generator/support/error.h"

namespace esc {

void validate(const SparseMatrix& matrix) {
  ESC_CHECK(matrix.rows >= 1 && matrix.rows <= largest_dimension, "a matrix has 1 to 2^31 - 1 rows");
  ESC_CHECK(matrix.columns >= 1 && matrix.columns <= largest_dimension, "a matrix has 1 to 2^31 - 1 columns");
  ESC_CHECK(matrix.offsets.size() == static_cast<std::size_t>(matrix.rows) + 1, "a matrix has rows + 1 offsets");
  ESC_CHECK(matrix.values.size() == matrix.column_of.size(), "every non-zero has a column and a value");
  ESC_CHECK(matrix.offsets.front() == 0, "offsets start at 0");
  ESC_CHECK(matrix.offsets.back() == matrix.nonzeros(), "offsets end at the number of non-zeros");
  for (std::size_t row = 0; row + 1 < matrix.offsets.size(); ++row) {
    ESC_CHECK(matrix.offsets[row] <= matrix.offsets[row + 1], fmt::format("offsets decrease after row {}", row));
  }
  // Only now is every offset known to lie inside the arrays.
  for (std::size_t row = 0; row + 1 < matrix.offsets.size(); ++row) {
    std::int64_t previous = -1;
    for (auto at = static_cast<std::size_t>(matrix.offsets[row]);
         at < static_cast<std::size_t>(matrix.offsets[row + 1]); ++at) {
      const std::int64_t column = matrix.column_of[at];
      ESC_CHECK(column > previous && column < matrix.columns,
                fmt::format("columns of row {} do not increase inside the matrix", row));
      ESC_CHECK(matrix.values[at] != 0.0, fmt::format("a zero is stored in row {}, column {}", row, column));
      previous = column;
    }
  }
}

}  // namespace esc
