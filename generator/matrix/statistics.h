// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "generator/matrix/sparse_matrix.h"

namespace esc {

/// How many non-zeros the rows (or the columns) of a matrix have. A percentile p is the smallest length that at least p
/// per cent of the rows do not exceed.
struct LengthStatistics {
  std::int64_t shortest = 0;
  std::int64_t longest = 0;
  double mean = 0;
  double standard_deviation = 0;        ///< of all rows, not of a sample of them
  double coefficient_of_variation = 0;  ///< standard deviation / mean; 0 where the mean is 0
  std::int64_t percentile_10 = 0;
  std::int64_t percentile_50 = 0;
  std::int64_t percentile_90 = 0;
  std::int64_t empty = 0;  ///< rows without a non-zero
  std::int64_t full = 0;   ///< rows without a zero

  bool operator==(const LengthStatistics&) const = default;
};

struct MatrixStatistics {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t nonzeros = 0;
  double sparsity = 0;  ///< share of zeros, 0 to 1
  LengthStatistics row_lengths;
  LengthStatistics column_lengths;
  std::uint64_t dense_bytes = 0;  ///< all elements as the kernel has them
  std::uint64_t csr_bytes = 0;    ///< 4-byte offsets (rows + 1), 4-byte columns, values as the kernel has them

  bool operator==(const MatrixStatistics&) const = default;
};

/// Takes memory for the rows and the non-zeros, whatever the number of columns.
MatrixStatistics statistics(const SparseMatrix& matrix);

/// The row_lengths of the statistics alone.
LengthStatistics row_statistics(const SparseMatrix& matrix);

/// Four neighbours in a row, from a multiple of four on.
struct FullestFour {
  std::int64_t row = 0;
  std::int64_t column = 0;  ///< the first of them
  int nonzeros = 0;
};

/// Those with the most non-zeros, the first such ones.
FullestFour fullest_four(const SparseMatrix& matrix);

/// Whether these have two at most, as the sparse tensor core asks.
inline bool is_sparse24(const SparseMatrix& matrix) { return fullest_four(matrix).nonzeros <= 2; }

/// The csr_bytes of the statistics alone, which need no look at the rows.
std::uint64_t csr_bytes(const SparseMatrix& matrix);
/// The same of a matrix of which these numbers alone are known.
std::uint64_t csr_bytes(std::int64_t rows, std::int64_t nonzeros, ScalarType element);

}  // namespace esc
