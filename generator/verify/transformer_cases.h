// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "generator/verify/drawn_calls.h"
#include "generator/verify/transformer_calls.h"

namespace esc {

// What a transformer is called with: matrices, leading dimensions and damaged bytes.

/// Zeros that are stored in a row beside its non-zeros.
inline constexpr std::int64_t most_stored_zeros = 3;

/// The matrix with zeros, of either sign, stored in each row that has room for them, beside each other where that is.
CsrArrays with_stored_zeros(const SparseMatrix& matrix);

/// Values that are not finite among others.
SparseMatrix with_infinite_values(SparseMatrix matrix, std::uint64_t seed);

/// A non-zero with a zero after it in its row.
struct MovableNonzero {
  std::size_t entry;
  std::int64_t row;
};

/// The non-zeros of some rows that can be moved: none where each row is empty or full before its last one.
std::vector<MovableNonzero> movable_nonzeros(const SparseMatrix& matrix, std::int64_t first_row,
                                             std::int64_t behind_row);

/// Some rows, one after the other.
struct RowRange {
  std::int64_t first = 0;
  std::int64_t behind = 0;
};

/// The rows of each group of row tiles that a transformer remembers a digest of. None where the bytes are no packed
/// matrix.
std::vector<RowRange> pattern_groups_of(std::span<const std::byte> packed);

/// Leading dimensions for a text of which nothing is known, where the matrix is small: those that deployments have, and
/// some that are drawn.
std::vector<std::int64_t> further_lda(const SparseMatrix& matrix, Breadth breadth, std::uint64_t seed);

/// The largest distance of rows, in elements, that a transformer is called with.
std::int64_t largest_lda(std::int64_t columns);

/// Where a packed file is damaged: the kind of the packed form, the rows of the matrix, the first byte after the
/// header and the last; for a text of which nothing is known the whole header of a small one, and places all over it.
std::vector<std::size_t> damaged_bytes(std::size_t bytes, Breadth breadth);

}  // namespace esc
