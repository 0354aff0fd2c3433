// SPDX-License-Identifier: Apache-2.0
#include "tests/support/awkward_shapes.h"

#include <cstdint>
#include <functional>

#include "generator/matrix/drawn_value.h"

namespace esc::tests {
namespace {

/// Whether A[row][column] is a non-zero.
using Rule = std::function<bool(std::int64_t row, std::int64_t column)>;

SparseMatrix build(std::int64_t rows, std::int64_t columns, const Rule& is_nonzero) {
  constexpr std::uint64_t seed = 11;
  SparseMatrix matrix{rows, columns, {0}, {}, {}};
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < columns; ++column) {
      if (is_nonzero(row, column)) {
        matrix.column_of.push_back(static_cast<std::int32_t>(column));
        matrix.values.push_back(drawn_value(seed, row, column));
      }
    }
    matrix.offsets.push_back(matrix.nonzeros());
  }
  return matrix;
}

bool always(std::int64_t, std::int64_t) { return true; }

/// Column c is a copy of column c % kinds. The first kinds are almost empty, the last is full, so that the patterns of
/// a row tile have many different numbers of rows.
Rule repeating(std::int64_t kinds) {
  return [kinds](std::int64_t row, std::int64_t column) {
    const std::int64_t kind = column % kinds;
    const auto drawn = mix_bits(static_cast<std::uint64_t>(row * kinds + kind)) % static_cast<std::uint64_t>(kinds);
    return static_cast<std::int64_t>(drawn) <= kind;
  };
}

Rule with_empty_and_full_rows(const Rule& others) {
  return [others](std::int64_t row, std::int64_t column) {
    const std::int64_t place = row % 4;
    return place == 3 || (place != 1 && others(row, column));
  };
}

Rule every(std::int64_t distance) {
  return [distance](std::int64_t row, std::int64_t column) { return (column + row) % distance == 0; };
}

}  // namespace

std::vector<NamedMatrix> awkward_shapes() {
  return {
      {"one element", build(1, 1, always)},
      {"one row", build(1, 97, [](std::int64_t, std::int64_t column) { return column % 3 != 1; })},
      {"one column", build(97, 1, [](std::int64_t row, std::int64_t) { return row % 6 != 2 && row != 96; })},
      {"7 x 13", build(7, 13, repeating(4))},
      {"33 x 129", build(33, 129, repeating(3))},
      {"empty and full rows", build(14, 61, with_empty_and_full_rows(repeating(3)))},
      {"last row tile short", build(11, 40, repeating(8))},
      {"full", build(8, 40, always)},
      {"one non-zero in the last corner",
       build(9, 17, [](std::int64_t row, std::int64_t column) { return row + column == 24; })},
      {"last column of 16 bits", build(1, 65536, every(4369))},
      {"columns of 32 bits", build(3, 70001, every(5000))},
      {"a full row of 4608", build(2, 4608, [](std::int64_t row, std::int64_t) { return row == 1; })},
      {"all patterns of 3 rows",
       build(3, 37, [](std::int64_t row, std::int64_t column) { return (column % 7 + 1) >> row & 1; })},
  };
}

}  // namespace esc::tests
