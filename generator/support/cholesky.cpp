// SPDX-License-Identifier: Apache-2.0
#include "generator/support/cholesky.h"

#include <cmath>
#include <utility>

namespace esc {

CholeskyFactor::CholeskyFactor(SymmetricMatrix matrix) : factor_(std::move(matrix)) {
  for (std::size_t i = 0; i < factor_.size(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = factor_.at(i, j);
      for (std::size_t k = 0; k < j; ++k) {
        sum -= factor_.at(i, k) * factor_.at(j, k);
      }
      factor_.at(i, j) = i == j ? std::sqrt(sum) : sum / factor_.at(j, j);
    }
  }
}

std::vector<double> CholeskyFactor::solve_half(std::vector<double> right) const {
  for (std::size_t i = 0; i < right.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      right[i] -= factor_.at(i, k) * right[k];
    }
    right[i] /= factor_.at(i, i);
  }
  return right;
}

std::vector<double> CholeskyFactor::solve(std::vector<double> right) const {
  right = solve_half(std::move(right));
  for (std::size_t i = right.size(); i-- > 0;) {
    right[i] /= factor_.at(i, i);
    for (std::size_t k = 0; k < i; ++k) {
      right[k] -= factor_.at(i, k) * right[i];
    }
  }
  return right;
}

std::vector<double> solve(SymmetricMatrix matrix, std::vector<double> right) {
  return CholeskyFactor(std::move(matrix)).solve(std::move(right));
}

}  // namespace esc
