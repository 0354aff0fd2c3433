// SPDX-License-Identifier: Apache-2.0
#include "generator/matrix/statistics.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

namespace esc {
namespace {

/// Of `lengths`, none of which exceeds `full_length`, and of so many zeros beside them.
LengthStatistics summarise(std::vector<std::int64_t> lengths, std::int64_t zeros, std::int64_t full_length) {
  std::sort(lengths.begin(), lengths.end());
  const std::int64_t count = zeros + static_cast<std::int64_t>(lengths.size());
  const auto in_order = [&](std::int64_t place) {
    return place < zeros ? 0 : lengths[static_cast<std::size_t>(place - zeros)];
  };
  const auto percentile = [&](std::int64_t percent) { return in_order((percent * count + 99) / 100 - 1); };
  const auto occurrences = [&](std::int64_t length) {
    const auto [first, last] = std::equal_range(lengths.begin(), lengths.end(), length);
    return static_cast<std::int64_t>(last - first) + (length == 0 ? zeros : 0);
  };
  LengthStatistics summary;
  summary.shortest = in_order(0);
  summary.longest = in_order(count - 1);
  summary.mean = static_cast<double>(std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0})) /
                 static_cast<double>(count);
  double squares = static_cast<double>(zeros) * summary.mean * summary.mean;
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

/// Without a number for each column, of which a matrix with few non-zeros may have thousands of millions.
LengthStatistics column_statistics(const SparseMatrix& matrix) {
  std::vector<std::int32_t> columns = matrix.column_of;
  std::sort(columns.begin(), columns.end());
  std::vector<std::int64_t> lengths;
  for (auto begin = columns.begin(); begin != columns.end();) {
    const auto end = std::upper_bound(begin, columns.end(), *begin);
    lengths.push_back(end - begin);
    begin = end;
  }
  const std::int64_t empty = matrix.columns - static_cast<std::int64_t>(lengths.size());
  return summarise(std::move(lengths), empty, matrix.rows);
}

/// The same in one pass, where there are not many more columns than non-zeros.
LengthStatistics dense_column_statistics(const SparseMatrix& matrix) {
  std::vector<std::int64_t> lengths(static_cast<std::size_t>(matrix.columns), 0);
  for (const std::int32_t column : matrix.column_of) {
    ++lengths[static_cast<std::size_t>(column)];
  }
  return summarise(std::move(lengths), 0, matrix.rows);
}

}  // namespace

LengthStatistics row_statistics(const SparseMatrix& matrix) {
  std::vector<std::int64_t> lengths(static_cast<std::size_t>(matrix.rows));
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    lengths[static_cast<std::size_t>(row)] = matrix.row_length(row);
  }
  return summarise(std::move(lengths), 0, matrix.columns);
}

MatrixStatistics statistics(const SparseMatrix& matrix) {
  MatrixStatistics result;
  result.rows = matrix.rows;
  result.columns = matrix.columns;
  result.nonzeros = matrix.nonzeros();
  result.sparsity = matrix.sparsity();
  result.row_lengths = row_statistics(matrix);
  constexpr std::int64_t few_columns = 1 << 20;
  result.column_lengths = matrix.columns <= std::max(few_columns, 4 * matrix.nonzeros())
                              ? dense_column_statistics(matrix)
                              : column_statistics(matrix);
  result.dense_bytes = static_cast<std::uint64_t>(matrix.rows) * static_cast<std::uint64_t>(matrix.columns) *
                       static_cast<std::uint64_t>(bytes_of(matrix.element));
  result.csr_bytes = csr_bytes(matrix);
  return result;
}

FullestFour fullest_four(const SparseMatrix& matrix) {
  constexpr std::int32_t neighbours = 4;
  FullestFour fullest;
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    const auto end = static_cast<std::size_t>(matrix.offsets[static_cast<std::size_t>(row) + 1]);
    std::int32_t four = -1;
    int found = 0;
    for (auto at = static_cast<std::size_t>(matrix.offsets[static_cast<std::size_t>(row)]); at < end; ++at) {
      found = matrix.column_of[at] / neighbours == four ? found : 0;
      four = matrix.column_of[at] / neighbours;
      found += matrix.values[at] != 0 ? 1 : 0;
      if (found > fullest.nonzeros) {
        fullest = {row, std::int64_t{four} * neighbours, found};
      }
    }
  }
  return fullest;
}

std::uint64_t csr_bytes(const SparseMatrix& matrix) {
  return csr_bytes(matrix.rows, matrix.nonzeros(), matrix.element);
}

std::uint64_t csr_bytes(std::int64_t rows, std::int64_t nonzeros, ScalarType element) {
  return (static_cast<std::uint64_t>(rows) + 1) * 4 +
         static_cast<std::uint64_t>(nonzeros) * static_cast<std::uint64_t>(4 + bytes_of(element));
}

}  // namespace esc
