#include "generator/matrix/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

namespace esc {
namespace {

/// Of `lengths`, none of which exceeds `full_length`.
LengthStatistics summarise(std::vector<std::int64_t> lengths, std::int64_t full_length) {
  std::sort(lengths.begin(), lengths.end());
  const auto count = static_cast<std::int64_t>(lengths.size());
  const auto percentile = [&](std::int64_t percent) {
    return lengths[static_cast<std::size_t>((percent * count + 99) / 100 - 1)];
  };
  const auto occurrences = [&](std::int64_t length) {
    const auto [first, last] = std::equal_range(lengths.begin(), lengths.end(), length);
    return static_cast<std::int64_t>(last - first);
  };
  LengthStatistics summary;
  summary.shortest = lengths.front();
  summary.longest = lengths.back();
  summary.mean = static_cast<double>(std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0})) /
                 static_cast<double>(count);
  double squares = 0;
  for (const std::int64_t length : lengths) {
    const double deviation = static_cast<double>(length) - summary.mean;
    squares += deviation * deviation;
  }
  summary.standard_deviation = std::sqrt(squares / static_cast<double>(count));
  summary.coefficient_of_variation = summary.mean > 0 ? summary.standard_deviation / summary.mean : 0;
  summary.percentile_10 = percentile(10);
  summary.percentile_50 = percentile(50);
  summary.percentile_90 = percentile(90);
  summary.empty = occurrences(0);
  summary.full = occurrences(full_length);
  return summary;
}

std::vector<std::int64_t> lengths_of_rows(const SparseMatrix& matrix) {
  std::vector<std::int64_t> lengths(static_cast<std::size_t>(matrix.rows));
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    lengths[static_cast<std::size_t>(row)] = matrix.row_length(row);
  }
  return lengths;
}

std::vector<std::int64_t> lengths_of_columns(const SparseMatrix& matrix) {
  std::vector<std::int64_t> lengths(static_cast<std::size_t>(matrix.columns), 0);
  for (const std::int32_t column : matrix.column_of) {
    ++lengths[static_cast<std::size_t>(column)];
  }
  return lengths;
}

}  // namespace

MatrixStatistics statistics(const SparseMatrix& matrix) {
  MatrixStatistics result;
  result.rows = matrix.rows;
  result.columns = matrix.columns;
  result.nonzeros = matrix.nonzeros();
  result.sparsity = matrix.sparsity();
  result.row_lengths = summarise(lengths_of_rows(matrix), matrix.columns);
  result.column_lengths = summarise(lengths_of_columns(matrix), matrix.rows);
  result.dense_bytes = static_cast<std::uint64_t>(matrix.rows) * static_cast<std::uint64_t>(matrix.columns) *
                       static_cast<std::uint64_t>(bytes_of(matrix.element));
  result.csr_bytes = csr_bytes(matrix);
  return result;
}

std::uint64_t csr_bytes(const SparseMatrix& matrix) {
  return (static_cast<std::uint64_t>(matrix.rows) + 1) * 4 + static_cast<std::uint64_t>(matrix.nonzeros()) *
                                                               static_cast<std::uint64_t>(4 + bytes_of(matrix.element));
}

}  // namespace esc
