// SPDX-License-Identifier: Apache-2.0
#include "generator/patterns/unpacked_matrix.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "generator/matrix/typed_elements.h"
#include "generator/patterns/csr_view.h"

namespace esc {

SparseMatrix unpacked_matrix(transformer::CsrMatrix unpacked, ScalarType element) {
  SparseMatrix matrix{unpacked.rows,
                      unpacked.columns,
                      std::move(unpacked.offsets),
                      std::move(unpacked.column_of),
                      std::move(unpacked.values),
                      element_type(unpacked.element)};
  const auto is_of_type = [&](double value) { return std::isnan(value) || rounded_to(element, value) == value; };
  if (matrix.element == memory_type(element) && std::ranges::all_of(matrix.values, is_of_type)) {
    matrix.element = element;
  }
  return matrix;
}

}  // namespace esc
