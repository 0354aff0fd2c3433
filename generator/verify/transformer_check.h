// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "generator/matrix/sparse_matrix.h"
#include "generator/matrix/typed_elements.h"
#include "generator/verify/bundle_interface.h"
#include "generator/verify/drawn_calls.h"

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

/// How much of a transformer is called for.
struct TransformEffort {
  std::int64_t most_dense_elements = 0;  ///< rows times columns of a matrix that is packed from dense as well
  Breadth breadth = Breadth::unknown;
  std::uint64_t seed = 1;      ///< of the other values, and of which non-zeros are moved
  std::int64_t line_rows = 1;  ///< rows whose other values are of one kind
};

/// Calls a bundle's own transformer as its C interface allows, and as it forbids; docs/verification.md lists the calls.
/// Each must return what the interface promises. From CSR, with zeros stored and without, and from dense, with gaps
/// between rows and without, the packed bytes must be the same, and hold the very values; `load` must take them and no
/// others.
TransformCheck check_transformer(const TransformerFunctions& transformer, const SparseMatrix& matrix,
                                 const TransformEffort& effort);

/// Zeros that are stored in a row beside its non-zeros.
inline constexpr std::int64_t most_stored_zeros = 3;

/// The largest distance of rows, in elements, that a transformer is called with.
std::int64_t largest_lda(std::int64_t columns);

/// The matrix as a dense, row-major array of its element type, rows `lda` elements apart, with NaN between them and
/// `zero`, of either sign, where it has no entries; the last row ends with its last element.
TypedElements dense_elements(const SparseMatrix& matrix, std::int64_t lda, double zero = 0.0);
inline TypedElements dense_elements(const SparseMatrix& matrix) { return dense_elements(matrix, matrix.columns); }

}  // namespace esc
