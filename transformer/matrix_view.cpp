// SPDX-License-Identifier: Apache-2.0
#include "transformer/matrix_view.h"

#include <fmt/format.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_reduce.h>

#include <algorithm>
#include <stdexcept>

#include "transformer/row_tile_sources.h"

namespace esc::transformer {

void check(const CsrView& matrix) {
  if (std::ssize(matrix.offsets) != matrix.rows + 1 || matrix.offsets.front() != 0 ||
      matrix.offsets.back() != std::ssize(matrix.column_of) || matrix.values.size() != matrix.column_of.size()) {
    throw std::invalid_argument(fmt::format(
        "the offsets, column indices and values of a sparse matrix of {} rows do not belong together", matrix.rows));
  }
  const CsrRows<std::int64_t, double> rows{matrix.offsets.data(), matrix.column_of.data(), matrix.values.data()};
  if (const std::int64_t row = rows.first_decreasing_row(matrix.rows); row >= 0) {
    throw std::invalid_argument(fmt::format("row {}: it ends before it starts", row));
  }
  const std::int64_t bad_row = tbb::parallel_deterministic_reduce(
      tbb::blocked_range<std::int64_t>(0, matrix.rows, 64), matrix.rows,
      [&](const tbb::blocked_range<std::int64_t>& range, std::int64_t first_bad) {
        for (std::int64_t row = range.begin(); row < std::min(range.end(), first_bad); ++row) {
          if (rows.column_problem(row, matrix.columns) != nullptr) {
            return row;
          }
        }
        return first_bad;
      },
      [](std::int64_t a, std::int64_t b) { return std::min(a, b); });
  if (bad_row < matrix.rows) {
    throw std::invalid_argument(fmt::format("row {}: {}", bad_row, rows.column_problem(bad_row, matrix.columns)));
  }
}

}  // namespace esc::transformer
