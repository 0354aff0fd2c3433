// SPDX-License-Identifier: Apache-2.0
#include "generator/matrix/round_values.h"

#include <cmath>

#include "generator/matrix/typed_elements.h"

namespace esc {

Rounding round_values(SparseMatrix& matrix, ScalarType element) {
  Rounding result;
  matrix.element = element;
  std::size_t kept = 0;
  std::size_t entry = 0;
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    const auto end = static_cast<std::size_t>(matrix.offsets[static_cast<std::size_t>(row) + 1]);
    for (; entry < end; ++entry) {
      const double value = rounded_to(element, matrix.values[entry]);
      result.became_infinite += std::isinf(value) && std::isfinite(matrix.values[entry]) ? 1 : 0;
      if (value == 0) {
        ++result.became_zero;
        continue;
      }
      matrix.column_of[kept] = matrix.column_of[entry];
      matrix.values[kept++] = value;
    }
    matrix.offsets[static_cast<std::size_t>(row) + 1] = static_cast<std::int64_t>(kept);
  }
  matrix.column_of.resize(kept);
  matrix.values.resize(kept);
  return result;
}

}  // namespace esc
