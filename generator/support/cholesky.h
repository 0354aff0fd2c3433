// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace esc {

/// The lower triangle of a symmetric matrix, all 0 at first.
class SymmetricMatrix {
 public:
  explicit SymmetricMatrix(std::size_t size) : size_(size), elements_(size * (size + 1) / 2) {}
  std::size_t size() const { return size_; }
  /// column <= row.
  double& at(std::size_t row, std::size_t column) { return elements_[row * (row + 1) / 2 + column]; }
  double at(std::size_t row, std::size_t column) const { return elements_[row * (row + 1) / 2 + column]; }
  /// The first elements of a row, one after the other.
  std::span<const double> row(std::size_t row, std::size_t count) const {
    return std::span(elements_).subspan(row * (row + 1) / 2, count);
  }

 private:
  std::size_t size_;
  std::vector<double> elements_;
};

/// The lower factor of a positive definite matrix, by Cholesky's decomposition: matrix = factor * transposed factor.
class CholeskyFactor {
 public:
  explicit CholeskyFactor(SymmetricMatrix matrix);

  /// x with factor * x = right.
  std::vector<double> solve_half(std::vector<double> right) const;
  /// x with matrix * x = right.
  std::vector<double> solve(std::vector<double> right) const;

 private:
  SymmetricMatrix factor_;
};

/// x with matrix * x = right. The matrix is positive definite.
std::vector<double> solve(SymmetricMatrix matrix, std::vector<double> right);

}  // namespace esc
