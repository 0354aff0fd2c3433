// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "generator/ir/product_digits.h"
#include "generator/matrix/sparse_matrix.h"

namespace esc {

/// B of a product in double: K rows, `ldb` elements apart, of which the first `n` are columns of B. Whatever the dense
/// array's dimensions, it is the matrix B[k][j] here that its elements make, so that an element that several k and j
/// read is in several places; those that no statement reads, because they lie in the padding, may be anything.
struct DenseOperand {
  std::span<const double> elements;
  std::int64_t ldb = 0;
  std::int64_t n = 0;
  std::span<const std::int64_t> columns = {};  ///< those of which C is wanted, ascending; all where it is empty

  /// How many columns of C are wanted, and which is the one at `place` of them.
  std::size_t wanted() const { return columns.empty() ? static_cast<std::size_t>(n) : columns.size(); }
  std::int64_t column(std::size_t place) const {
    return columns.empty() ? static_cast<std::int64_t>(place) : columns[place];
  }
};

/// The wanted columns of a row of the product as the input says it, without what an epilogue makes of it, and the sums
/// of the magnitudes of what was added up.
struct RowOfC {
  std::vector<double> values;
  std::vector<double> magnitudes;
};

/// The product that the user's loop nest says, in double: what every kernel is judged by. It runs the nest's own
/// statements under its own guards, a row of C at a time with all its columns side by side, in the nest's own order of
/// the reduction, however many loops rows, columns and reduction have; columns of the sparse array that are zero in the
/// row are left out where a statement adds nothing for them.
class NestProduct {
 public:
  /// `nest` is untransformed: its arrays have a sparse, a dense and an output one. Both must outlive this.
  NestProduct(const LoopNest& nest, const SparseMatrix& a);

  const LoopNest& nest() const { return nest_; }
  const ProductDigits& digits() const { return digits_; }
  const SparseMatrix& matrix() const { return a_; }
  /// Row `row` of C. Every element of B that it takes must be finite. Throws Defect for a nest with something else in
  /// it.
  RowOfC row(std::int64_t row, const DenseOperand& b) const;

 private:
  const LoopNest& nest_;
  ProductDigits digits_;
  const SparseMatrix& a_;
};

}  // namespace esc
