#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "generator/matrix/sparse_matrix.h"
#include "generator/matrix/typed_elements.h"
#include "generator/verify/bundle_interface.h"

namespace esc {

/// What the transformer makes of the matrix, and what is wrong with it.
struct TransformCheck {
  std::vector<std::byte> packed;
  std::vector<std::string> problems;
};

/// Packs the matrix with the bundle's own transformer, from CSR and, for up to `most_dense_elements` elements, from dense:
/// both must give the same bytes. A matrix with one non-zero moved must be refused.
TransformCheck check_transformer(const TransformerFunctions& transformer, const SparseMatrix& matrix,
                                 std::int64_t most_dense_elements);

/// The matrix as a dense, row-major array of its element type.
TypedElements dense_elements(const SparseMatrix& matrix);

}  // namespace esc
