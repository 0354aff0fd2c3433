// SPDX-License-Identifier: Apache-2.0
#include "generator/matrix/csr_builder.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

namespace esc {

CsrBuilder::CsrBuilder(std::int64_t rows, std::int64_t columns, ScalarType element)
    : matrix_{rows, columns, std::vector<std::int64_t>(static_cast<std::size_t>(rows) + 1, 0), {}, {}, element} {}

void CsrBuilder::start_placing() {
  std::partial_sum(matrix_.offsets.begin(), matrix_.offsets.end(), matrix_.offsets.begin());
  next_.assign(matrix_.offsets.begin(), matrix_.offsets.end() - 1);
  matrix_.column_of.resize(static_cast<std::size_t>(matrix_.offsets.back()));
  matrix_.values.resize(static_cast<std::size_t>(matrix_.offsets.back()));
}

bool CsrBuilder::place(std::int64_t row, const std::int32_t* columns, const double* values, std::int64_t entries) {
  const auto at = static_cast<std::size_t>(row);
  if (entries > matrix_.offsets[at + 1] - next_[at]) {
    return false;
  }
  std::copy_n(columns, entries, matrix_.column_of.begin() + next_[at]);
  std::copy_n(values, entries, matrix_.values.begin() + next_[at]);
  next_[at] += entries;
  return true;
}

bool CsrBuilder::complete() const { return std::equal(next_.begin(), next_.end(), matrix_.offsets.begin() + 1); }

SparseMatrix CsrBuilder::take() && { return std::move(matrix_); }

}  // namespace esc
