// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>

#include "generator/matrix/sparse_matrix.h"

namespace esc {

/// A file of entries may be much smaller than the offsets of its rows. Up to here that is taken for a sparse matrix,
/// and beyond it for a broken size.
inline constexpr std::int64_t rows_without_evidence = std::int64_t{1} << 24;

/// Brings the entries of every row into the order of their columns.
void sort_rows(SparseMatrix& matrix);

/// The row and column of an entry that a sorted matrix has twice, or (-1, -1).
std::pair<std::int64_t, std::int64_t> find_repetition(const SparseMatrix& matrix);

/// Takes the entries away that are zero.
void drop_zeros(SparseMatrix& matrix);

}  // namespace esc
