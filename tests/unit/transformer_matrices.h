#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "transformer/matrix_view.h"
#include "transformer/unpack.h"

namespace esc::transformer {

/// A dense matrix with its own storage; row i starts at i * lda.
struct DenseMatrix {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<double> values;
  std::int64_t lda = columns;

  double& at(std::int64_t row, std::int64_t column) { return values[static_cast<std::size_t>(row * lda + column)]; }
  double at(std::int64_t row, std::int64_t column) const { return values[static_cast<std::size_t>(row * lda + column)]; }
  DenseView view() const { return {rows, columns, values.data(), lda}; }
};

/// Independent entries, non-zero with probability `density`; some rows are emptied and some filled. The values are all
/// different, and what lies between the end of a row and the next is not zero.
inline DenseMatrix random_matrix(std::int64_t rows, std::int64_t columns, double density, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const std::int64_t lda = columns + static_cast<std::int64_t>(random() % 3);
  DenseMatrix matrix{rows, columns, std::vector<double>(static_cast<std::size_t>(rows * lda), -1.0f), lda};
  double next = 1;
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::uint64_t kind = random() % 8;
    std::bernoulli_distribution nonzero(kind == 0 ? 0.0 : kind == 1 && density > 0 ? 1.0 : density);
    for (std::int64_t k = 0; k < columns; ++k) {
      matrix.at(i, k) = nonzero(random) ? next++ : random() % 2 == 0 ? 0.0f : -0.0f;
    }
  }
  return matrix;
}

/// The matrix in CSR form; with `stored_zeros` every third zero is stored.
inline CsrMatrix to_csr(const DenseMatrix& matrix, bool stored_zeros = false) {
  CsrMatrix csr{matrix.rows, matrix.columns, {0}, {}, {}};
  for (std::int64_t i = 0; i < matrix.rows; ++i) {
    for (std::int64_t k = 0; k < matrix.columns; ++k) {
      if (matrix.at(i, k) != 0.0f || (stored_zeros && (i + k) % 3 == 0)) {
        csr.column_of.push_back(static_cast<std::int32_t>(k));
        csr.values.push_back(matrix.at(i, k));
      }
    }
    csr.offsets.push_back(std::ssize(csr.column_of));
  }
  return csr;
}

/// What a packed matrix means, computed from the definition of the format alone.
struct PlainLists {
  std::vector<std::uint64_t> panels, patterns, rpp, npp, cols;
  std::vector<double> annz;

  bool operator==(const PlainLists&) const = default;
};

inline PlainLists plain_lists(const DenseMatrix& matrix, std::int64_t height, std::size_t max_list_columns) {
  PlainLists lists;
  for (std::int64_t panel = 0; panel * height < matrix.rows; ++panel) {
    for (std::uint64_t pattern = 1; pattern < std::uint64_t{1} << height; ++pattern) {
      std::size_t length = 0;
      for (std::int64_t k = 0; k < matrix.columns; ++k) {
        std::uint64_t mask = 0;
        std::vector<double> values;
        for (std::int64_t i = panel * height; i < std::min(matrix.rows, (panel + 1) * height); ++i) {
          if (matrix.at(i, k) != 0.0f) {
            mask |= std::uint64_t{1} << (i - panel * height);
            values.push_back(matrix.at(i, k));
          }
        }
        if (mask != pattern) {
          continue;
        }
        if (length++ % max_list_columns == 0) {
          lists.panels.push_back(static_cast<std::uint64_t>(panel));
          lists.patterns.push_back(pattern);
          lists.rpp.push_back(lists.cols.size());
          lists.npp.push_back(lists.annz.size());
        }
        lists.cols.push_back(static_cast<std::uint64_t>(k));
        lists.annz.insert(lists.annz.end(), values.begin(), values.end());
      }
    }
  }
  lists.rpp.push_back(lists.cols.size());
  lists.npp.push_back(lists.annz.size());
  return lists;
}

}  // namespace esc::transformer
