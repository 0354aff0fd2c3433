#pragma once

#include "generator/matrix/sparse_matrix.h"
#include "transformer/matrix_view.h"

namespace esc {

/// The matrix as the packer sees it. The matrix must outlive the view.
inline transformer::CsrView csr_view(const SparseMatrix& matrix) {
  return {matrix.rows, matrix.columns, matrix.offsets, matrix.column_of, matrix.values};
}

}  // namespace esc
