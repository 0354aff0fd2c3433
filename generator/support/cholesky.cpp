// SPDX-License-Identifier: Apache-2.0
#include "generator/support/cholesky.h"

#include <cmath>
#include <utility>

namespace esc {
namespace {

/// Four sums at once: one would wait for each addition to end.
double product(std::span<const double> a, std::span<const double> b) {
  double sums[4] = {};
  const std::size_t whole = a.size() / 4 * 4;
  for (std::size_t at = 0; at < whole; at += 4) {
    for (std::size_t part = 0; part < 4; ++part) {
      sums[part] += a[at + part] * b[at + part];
    }
  }
  for (std::size_t at = whole; at < a.size(); ++at) {
    sums[0] += a[at] * b[at];
  }
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

}  // namespace

CholeskyFactor::CholeskyFactor(SymmetricMatrix matrix) : factor_(std::move(matrix)) {
  for (std::size_t i = 0; i < factor_.size(); ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      const double sum = factor_.at(i, j) - product(factor_.row(i, j), factor_.row(j, j));
      factor_.at(i, j) = i == j ? std::sqrt(sum) : sum / factor_.at(j, j);
    }
  }
}

std::vector<double> CholeskyFactor::solve_half(std::vector<double> right) const {
  for (std::size_t i = 0; i < right.size(); ++i) {
    right[i] -= product(factor_.row(i, i), std::span(right).first(i));
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
