#pragma once

#include "generator/matrix/sparse_matrix.h"
#include "transformer/matrix_view.h"

namespace esc {

/// The type as packed files name it, and back.
inline transformer::ScalarType stored_type(ScalarType element) {
  return element == ScalarType::f64 ? transformer::ScalarType::f64 : transformer::ScalarType::f32;
}
inline ScalarType element_type(transformer::ScalarType stored) {
  return stored == transformer::ScalarType::f64 ? ScalarType::f64 : ScalarType::f32;
}

/// The matrix as the packer sees it. The matrix must outlive the view.
inline transformer::CsrView csr_view(const SparseMatrix& matrix) {
  return {matrix.rows,   matrix.columns, matrix.offsets, matrix.column_of,
          matrix.values, stored_type(matrix.element)};
}

}  // namespace esc
