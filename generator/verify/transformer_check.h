// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "generator/matrix/sparse_matrix.h"
#include "generator/matrix/typed_elements.h"
#include "generator/verify/bundle_interface.h"

namespace esc {

/// Other values in the pattern of a matrix, and what its transformer makes of them.
struct OtherValues {
  SparseMatrix matrix;
  std::vector<std::byte> packed;
};

/// What the transformer makes of the matrix, and what is wrong with it.
struct TransformCheck {
  std::vector<std::byte> packed;
  std::vector<std::string> problems;
  std::optional<OtherValues> other;  ///< absent where the transformer refuses them
};

/// Calls a bundle's own transformer as its C interface allows, and as it forbids; docs/verification.md lists the calls. Each must
/// return what the interface promises. From CSR, with zeros stored and without, and, for up to `most_dense_elements` elements, from dense,
/// with a gap between rows and without, the packed bytes must be the same; `load` must take them and no others.
TransformCheck check_transformer(const TransformerFunctions& transformer, const SparseMatrix& matrix,
                                 std::int64_t most_dense_elements);

/// The matrix as a dense, row-major array of its element type, rows `lda` elements apart, with NaN between them; the last row
/// ends with its last element.
TypedElements dense_elements(const SparseMatrix& matrix, std::int64_t lda);
inline TypedElements dense_elements(const SparseMatrix& matrix) { return dense_elements(matrix, matrix.columns); }

}  // namespace esc
