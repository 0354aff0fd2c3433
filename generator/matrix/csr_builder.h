// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "generator/matrix/sparse_matrix.h"

namespace esc {

/// Builds a matrix from two passes over its entries: the first counts them per row, the second places them. So no more
/// memory is taken than the matrix itself needs, and entries may come in any order of rows.
class CsrBuilder {
 public:
  /// A matrix whose values are of this type.
  CsrBuilder(std::int64_t rows, std::int64_t columns, ScalarType element);

  /// First pass: `row` has `entries` more entries.
  void count(std::int64_t row, std::int64_t entries = 1) {
    matrix_.offsets[static_cast<std::size_t>(row) + 1] += entries;
  }
  /// Ends the first pass and takes the memory for the entries.
  void start_placing();
  /// Second pass: puts an entry after the others of its row. False when the row has more entries than were counted.
  bool place(std::int64_t row, std::int64_t column, double value) {
    const auto at = static_cast<std::size_t>(row);
    if (next_[at] == matrix_.offsets[at + 1]) {
      return false;
    }
    const auto slot = static_cast<std::size_t>(next_[at]++);
    matrix_.column_of[slot] = static_cast<std::int32_t>(column);
    matrix_.values[slot] = value;
    return true;
  }
  /// As `place` for `entries` entries of one row.
  bool place(std::int64_t row, const std::int32_t* columns, const double* values, std::int64_t entries);
  /// Whether every entry that was counted has been placed.
  bool complete() const;
  /// The matrix, its rows in the order of placing. The builder is used up.
  SparseMatrix take() &&;

 private:
  SparseMatrix matrix_;
  std::vector<std::int64_t> next_;  // per row: where its next entry goes
};

}  // namespace esc
