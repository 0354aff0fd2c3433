// SPDX-License-Identifier: Apache-2.0
#include "generator/matrix/row_order.h"

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <vector>

namespace esc {

void sort_rows(SparseMatrix& matrix) {
  std::vector<std::pair<std::int32_t, double>> entries;
  for (std::size_t row = 0; row + 1 < matrix.offsets.size(); ++row) {
    const auto begin = static_cast<std::size_t>(matrix.offsets[row]);
    const auto end = static_cast<std::size_t>(matrix.offsets[row + 1]);
    if (std::is_sorted(matrix.column_of.begin() + matrix.offsets[row],
                       matrix.column_of.begin() + matrix.offsets[row + 1])) {
      continue;
    }
    entries.clear();
    for (std::size_t at = begin; at < end; ++at) {
      entries.emplace_back(matrix.column_of[at], matrix.values[at]);
    }
    std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (std::size_t at = begin; at < end; ++at) {
      std::tie(matrix.column_of[at], matrix.values[at]) = entries[at - begin];
    }
  }
}

std::pair<std::int64_t, std::int64_t> find_repetition(const SparseMatrix& matrix) {
  for (std::size_t row = 0; row + 1 < matrix.offsets.size(); ++row) {
    const auto end = matrix.column_of.begin() + matrix.offsets[row + 1];
    const auto found = std::adjacent_find(matrix.column_of.begin() + matrix.offsets[row], end);
    if (found != end) {
      return {static_cast<std::int64_t>(row), *found};
    }
  }
  return {-1, -1};
}

void drop_zeros(SparseMatrix& matrix) {
  std::size_t kept = 0;
  std::size_t at = 0;
  for (std::size_t row = 0; row + 1 < matrix.offsets.size(); ++row) {
    const auto end = static_cast<std::size_t>(matrix.offsets[row + 1]);
    for (; at < end; ++at) {
      if (matrix.values[at] != 0) {
        matrix.column_of[kept] = matrix.column_of[at];
        matrix.values[kept++] = matrix.values[at];
      }
    }
    matrix.offsets[row + 1] = static_cast<std::int64_t>(kept);
  }
  matrix.column_of.resize(kept);
  matrix.values.resize(kept);
}

}  // namespace esc
