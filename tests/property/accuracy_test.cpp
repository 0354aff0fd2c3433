// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <vector>

#include "generator/matrix/drawn_value.h"
#include "tests/support/covering_sample.h"
#include "tests/support/emulated_layer.h"
#include "tests/support/run_size.h"

namespace esc {
namespace {

using tests::EmulatedKernel;
using tests::full_sweep;
using tests::layer_of;

/// Sums of terms with random signs partly cancel; sums of positive terms grow, and so do their rounding errors.
enum class Signs { random, positive };

/// Full rows are one list for each run of `max_list_columns` columns; scattered non-zeros spread over all patterns,
/// whose partial sums are then added up in C.
enum class Layout { full, scattered };

struct LongRows {
  std::int64_t length = 1;  ///< non-zeros in each row
  int ufi = 1;              ///< rows of a row tile; the matrix is one row tile
  Layout layout = Layout::full;
  Signs signs = Signs::random;
};

std::string print(const LongRows& rows) {
  return fmt::format("{} rows of {:>6}, {:<9}, {:<8}", rows.ufi, rows.length,
                     rows.layout == Layout::full ? "full" : "scattered",
                     rows.signs == Signs::random ? "random signs" : "positive");
}

/// Scattered: one of each two neighbouring columns is a non-zero, drawn for each row.
SparseMatrix matrix_of(const LongRows& rows) {
  constexpr std::uint64_t seed = 3;
  const std::int64_t stride = rows.layout == Layout::full ? 1 : 2;
  SparseMatrix matrix{rows.ufi, rows.length * stride, {0}, {}, {}};
  for (std::int64_t row = 0; row < rows.ufi; ++row) {
    for (std::int64_t place = 0; place < rows.length; ++place) {
      const std::uint64_t drawn = mix_bits(static_cast<std::uint64_t>(row * rows.length + place));
      const std::int64_t column =
          place * stride + static_cast<std::int64_t>(drawn % static_cast<std::uint64_t>(stride));
      const double value = drawn_value(seed, row, column);
      matrix.column_of.push_back(static_cast<std::int32_t>(column));
      matrix.values.push_back(rows.signs == Signs::positive ? std::abs(value) : value);
    }
    matrix.offsets.push_back(matrix.nonzeros());
  }
  return matrix;
}

std::vector<double> b_of(const LongRows& rows, const SparseMatrix& matrix, const ProductCase& product) {
  constexpr std::uint64_t seed = 5;
  std::vector<double> b = draw_b(matrix.columns, product, seed);
  if (rows.signs == Signs::positive) {
    std::transform(b.begin(), b.end(), b.begin(), [](double value) { return std::abs(value); });
  }
  return b;
}

/// The bound is that of the matrix alone, without an allowance for cancellation: with this many sums none is needed.
void check_accuracy(const LongRows& rows, const Schedule& schedule) {
  SCOPED_TRACE(print(rows));
  const SparseMatrix matrix = matrix_of(rows);
  const ProductCase product{32, 32, 32, 0};
  const EmulatedKernel kernel(layer_of(matrix, product.n, schedule));
  const tests::JudgedProduct judged =
      kernel.multiply(matrix, KernelCall{.product = product}, b_of(rows, matrix, product));
  const double tolerance = tolerance_of(matrix);
  EXPECT_EQ(judged.problem, "");
  EXPECT_LE(judged.error, tolerance);
  EXPECT_GT(judged.error, 0) << "nothing was rounded";
  std::cout << fmt::format("{}  error {:.2e}  of {:.2e}  ({:.2f})\n", print(rows), judged.error, tolerance,
                           judged.error / tolerance);
}

/// As few parts as are legal for rows of this length, so that each sum runs over as many columns as it may.
PanelSchedule longest_sums(const LongRows& rows) {
  const std::int64_t columns = rows.layout == Layout::full ? rows.length : 2 * rows.length;
  PanelSchedule schedule{.ufi = std::min(rows.ufi, 4), .columns = 4, .groups = 1, .warps = 1, .row_tiles = 32};
  while (schedule.warps * schedule.groups * 512 < columns) {
    int& parameter = schedule.groups < schedule.warp_groups() ? schedule.groups : schedule.warps;
    parameter *= 2;
    schedule.row_tiles = schedule.warp_row_tiles();
  }
  return schedule;
}

/// All rows in a whole run, else those in which all pairs of what tells them apart come up.
std::vector<LongRows> rows_of_the_run() {
  std::vector<LongRows> all;
  for (const int ufi : {1, 2, 8}) {
    for (const Layout layout : {Layout::full, Layout::scattered}) {
      for (const Signs signs : {Signs::random, Signs::positive}) {
        for (const std::int64_t length : {1, 100, 1024, 4608, 18432, 65536, 70001}) {
          if (layout == Layout::full || ufi > 1) {
            all.push_back({length, ufi, layout, signs});
          }
        }
      }
    }
  }
  return full_sweep() ? all : tests::covering_part(all, [](const LongRows& rows) {
    return std::vector<int>{static_cast<int>(rows.length), rows.ufi, static_cast<int>(rows.layout),
                            static_cast<int>(rows.signs)};
  });
}

TEST(Accuracy, OfAtomicSumsStaysWithinTheToleranceOfFloat32) {
  for (const LongRows& rows : rows_of_the_run()) {
    check_accuracy(rows, AtomicSchedule{.ufi = rows.ufi, .ufk = 4});
  }
}

TEST(Accuracy, OfPanelSumsStaysWithinTheToleranceOfFloat32) {
  for (const LongRows& rows : rows_of_the_run()) {
    check_accuracy(rows, longest_sums(rows));
  }
}

/// One lane group adds up each task, of as many non-zeros as are legal.
TEST(Accuracy, OfRowsSumsStaysWithinTheToleranceOfFloat32) {
  for (const LongRows& rows : rows_of_the_run()) {
    check_accuracy(rows, RowsSchedule{.columns = 32, .vector = 1, .task = 512, .light = 512});
  }
}

}  // namespace
}  // namespace esc
