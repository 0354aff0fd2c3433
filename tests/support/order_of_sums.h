// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "generator/matrix/sparse_matrix.h"
#include "generator/schedule/schedule.h"

namespace esc::tests {

/// In which order a kernel adds up the products of a row of C.
///
/// Family atomic adds to C from several blocks, and so does family rows for a row that it cuts: the order is nobody's
/// promise. A row that family rows does not cut is added up by the places of its non-zeros in the row alone. Family
/// row tile deals out the columns of the row's row tile by their places among them, or by their numbers where row tiles
/// are stored with every column of the matrix; that a column is an explicit zero of the row changes no sum.
class OrderOfSums {
 public:
  OrderOfSums(const Schedule& schedule, const SparseMatrix& a);

  /// Nothing where the order is not fixed. Two rows, of this matrix or of another, that have the same non-zeros in the
  /// same sequence are added up in the same order where this is equal.
  std::optional<std::vector<std::int32_t>> of_row(std::int64_t row) const;

 private:
  Schedule schedule_;
  const SparseMatrix& a_;
  bool every_column_ = false;
};

}  // namespace esc::tests
