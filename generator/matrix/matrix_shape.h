// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "generator/matrix/sparse_matrix.h"

namespace esc {

/// What is known of a matrix without its elements.
struct MatrixShape {
  MatrixShape(const SparseMatrix& matrix)  // NOLINT(google-explicit-constructor)
      : rows(matrix.rows), columns(matrix.columns), nonzeros(matrix.nonzeros()), element(matrix.element) {}

  std::int64_t rows;
  std::int64_t columns;
  std::int64_t nonzeros;
  ScalarType element;
};

}  // namespace esc
