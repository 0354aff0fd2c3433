// SPDX-License-Identifier: Apache-2.0
#include "generator/matrix/scatter.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace esc {
namespace {

std::span<const std::int32_t> row_of(const SparseMatrix& matrix, std::int64_t row) {
  return std::span(matrix.column_of)
      .subspan(static_cast<std::size_t>(matrix.offsets[static_cast<std::size_t>(row)]),
               static_cast<std::size_t>(matrix.row_length(row)));
}

/// Pairs of neighbours in a row that are both non-zeros.
std::int64_t column_pairs(std::span<const std::int32_t> row) {
  std::int64_t pairs = 0;
  for (std::size_t at = 1; at < row.size(); ++at) {
    pairs += row[at] == row[at - 1] + 1 && row[at] % 2 == 1 ? 1 : 0;
  }
  return pairs;
}

/// Columns that both rows have.
std::int64_t row_pairs(std::span<const std::int32_t> a, std::span<const std::int32_t> b) {
  std::int64_t pairs = 0;
  for (auto left = a.begin(), right = b.begin(); left != a.end() && right != b.end();) {
    pairs += *left == *right ? 1 : 0;
    const std::int32_t least = std::min(*left, *right);
    left += *left == least ? 1 : 0;
    right += *right == least ? 1 : 0;
  }
  return pairs;
}

double density_of(const SparseMatrix& matrix) { return 1 - matrix.sparsity(); }

}  // namespace

NeighbourExcess neighbour_excess(const SparseMatrix& matrix) {
  const double density = density_of(matrix);
  if (density <= 0 || density >= 1) {
    return {};
  }
  std::int64_t of_columns = 0;
  std::int64_t of_rows = 0;
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    of_columns += column_pairs(row_of(matrix, row));
    of_rows += row % 2 == 1 ? row_pairs(row_of(matrix, row - 1), row_of(matrix, row)) : 0;
  }
  const auto excess = [&](std::int64_t pairs, std::int64_t extent) {
    const double share = 2 * static_cast<double>(pairs) / static_cast<double>(matrix.nonzeros());
    return extent < 2 ? 0.0 : (share - density) / (1 - density);
  };
  return {excess(of_columns, matrix.columns), excess(of_rows, matrix.rows)};
}

bool is_scattered(const SparseMatrix& matrix) {
  constexpr double of_structure = 0.15;
  constexpr double deviations = 3;
  const double density = density_of(matrix);
  if (density <= 0 || density >= 1) {
    return true;
  }
  const double chance = std::sqrt(2 * density / (static_cast<double>(matrix.nonzeros()) * (1 - density)));
  const double most = of_structure + deviations * chance;
  const NeighbourExcess excess = neighbour_excess(matrix);
  return std::abs(excess.of_columns) <= most && std::abs(excess.of_rows) <= most;
}

}  // namespace esc
