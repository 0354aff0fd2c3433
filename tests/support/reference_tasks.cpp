// SPDX-License-Identifier: Apache-2.0
#include "tests/support/reference_tasks.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <vector>

namespace esc::tests {
namespace {

/// Entries of one row, from `begin` to before `end`.
struct Piece {
  std::int64_t row = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;
  bool split = false;

  std::int64_t length() const { return end - begin; }
};

std::vector<Piece> cut(const SparseMatrix& matrix, std::int64_t longest) {
  std::vector<Piece> pieces;
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    const std::int64_t end = matrix.offsets[static_cast<std::size_t>(row) + 1];
    std::int64_t begin = matrix.offsets[static_cast<std::size_t>(row)];
    const bool split = end - begin > longest;
    while (end - begin > longest) {
      pieces.push_back({row, begin, begin + longest, split});
      begin += longest;
    }
    pieces.push_back({row, begin, end, split});
  }
  return pieces;
}

void append(Tensor& tensor, double element) {
  tensor.elements.push_back(element);
  tensor.extents = {static_cast<std::int64_t>(tensor.elements.size())};
}

}  // namespace

ReferenceTasks reference_tasks(const SparseMatrix& matrix, const RowsSchedule& schedule) {
  std::vector<Piece> pieces = cut(matrix, schedule.task);
  std::ranges::stable_sort(pieces, std::greater<>(), [](const Piece& piece) {
    return std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(1, piece.length())));
  });
  ReferenceTasks tasks;
  tasks.columns.extents = {0};
  tasks.values.extents = {0};
  tasks.split_rows.extents = {0};
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    if (matrix.row_length(row) > schedule.task) {
      append(tasks.split_rows, static_cast<double>(row));
    }
  }
  for (const Piece& piece : pieces) {
    append(tasks.rows, static_cast<double>(piece.row));
    append(tasks.splits, piece.split ? 1 : 0);
    append(tasks.first, static_cast<double>(tasks.columns.elements.size()));
    append(tasks.lengths, static_cast<double>(piece.length()));
    for (std::int64_t entry = piece.begin; entry < piece.end; ++entry) {
      append(tasks.columns, matrix.column_of[static_cast<std::size_t>(entry)]);
      append(tasks.values, matrix.values[static_cast<std::size_t>(entry)]);
    }
    tasks.heavy += piece.length() > schedule.light ? 1 : 0;
  }
  return tasks;
}

}  // namespace esc::tests
