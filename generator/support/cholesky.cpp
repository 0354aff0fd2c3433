// SPDX-License-Identifier: Apache-2.0
#include "generator/support/cholesky.h"

#include <cmath>

namespace esc {

std::vector<double> solve(SymmetricMatrix matrix, std::vector<double> right) {
  const std::size_t size = right.size();
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = matrix.at(i, j);
      for (std::size_t k = 0; k < j; ++k) {
        sum -= matrix.at(i, k) * matrix.at(j, k);
      }
      matrix.at(i, j) = i == j ? std::sqrt(sum) : sum / matrix.at(j, j);
    }
    for (std::size_t k = 0; k < i; ++k) {
      right[i] -= matrix.at(i, k) * right[k];
    }
    right[i] /= matrix.at(i, i);
  }
  for (std::size_t i = size; i-- > 0;) {
    right[i] /= matrix.at(i, i);
    for (std::size_t k = 0; k < i; ++k) {
      right[k] -= matrix.at(i, k) * right[i];
    }
  }
  return right;
}

}  // namespace esc
