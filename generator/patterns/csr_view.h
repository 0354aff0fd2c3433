// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/matrix/sparse_matrix.h"
#include "transformer/matrix_view.h"

namespace esc {

/// The type as packed files name it, and back.
inline transformer::ScalarType stored_type(ScalarType element) {
  switch (element) {
    case ScalarType::f64:
      return transformer::ScalarType::f64;
    case ScalarType::f16:
      return transformer::ScalarType::f16;
    case ScalarType::bf16:
      return transformer::ScalarType::bf16;
    default:
      return transformer::ScalarType::f32;
  }
}
inline ScalarType element_type(transformer::ScalarType stored) {
  switch (stored) {
    case transformer::ScalarType::f64:
      return ScalarType::f64;
    case transformer::ScalarType::f16:
      return ScalarType::f16;
    case transformer::ScalarType::bf16:
      return ScalarType::bf16;
    default:
      return ScalarType::f32;
  }
}

/// The matrix as the packer sees it. The matrix must outlive the view.
inline transformer::CsrView csr_view(const SparseMatrix& matrix) {
  return {matrix.rows, matrix.columns, matrix.offsets, matrix.column_of, matrix.values, stored_type(matrix.element)};
}

}  // namespace esc
