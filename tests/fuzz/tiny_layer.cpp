// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/tiny_layer.h"

#include "generator/emit/sources.h"
#include "tests/fuzz/harness.h"

namespace esc::fuzz {

SparseMatrix tiny_matrix(ScalarType element) {
  SparseMatrix matrix{9, 13, {0}, {}, {}, element};
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    for (std::int64_t column = 0; column < matrix.columns; ++column) {
      const bool is_full = row == 3;
      const bool is_empty = row == 5;
      if (is_full || (!is_empty && (row * column + row) % 4 == 1)) {
        matrix.column_of.push_back(static_cast<std::int32_t>(column));
        matrix.values.push_back(0.5 + static_cast<double>(row * 16 + column));
      }
    }
    matrix.offsets.push_back(matrix.nonzeros());
  }
  return matrix;
}

GeneratedLayer tiny_layer(const LoopNest& nest, const SparseMatrix& matrix, std::int64_t bcol,
                          const ScheduleChoice& choice) {
  return generate_layer(
      matrix, nest,
      {.name = "fuzzed", .source_file = "fuzzed.mtx", .bcol = bcol, .architectures = {80, 90}, .choice = choice});
}

void make_tiny_layer(const LoopNest& nest, const SparseMatrix& matrix, std::int64_t bcol,
                     const ScheduleChoice& choice) {
  const GeneratedLayer generated = tiny_layer(nest, matrix, bcol, choice);
  expect(!kernel_source(generated.layer).empty(), "a kernel without a text");
  static_cast<void>(manifest_json(generated.layer, {}, {}));
}

}  // namespace esc::fuzz
