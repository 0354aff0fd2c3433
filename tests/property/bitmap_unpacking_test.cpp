// SPDX-License-Identifier: Apache-2.0
// NAME_unpack on the emulated grid: to the bit the matrix that was packed, and nothing between its rows.

#include <gtest/gtest.h>

#include <string>

#include "generator/emit/generate.h"
#include "generator/emit/sources.h"
#include "generator/ir/linear_nk_nest.h"
#include "generator/matrix/round_values.h"
#include "generator/matrix/sample.h"
#include "tests/support/emulated_layer.h"

namespace esc {
namespace {

using tests::EmulatedKernel;
using tests::layer_of;

constexpr BitmapSchedule of_warps{.columns = 8, .panels = 2, .warps = 2, .stages = 3, .units = 2};
constexpr BitmapSchedule of_warpgroups{
    .columns = 64, .panels = 4, .warps = 1, .stages = 3, .units = 3, .mma = BitmapSchedule::Mma::warpgroup};

constexpr BitmapSchedule of_clusters{.columns = 8, .panels = 1, .warps = 2, .stages = 3, .units = 2, .cluster = 2};

SparseMatrix sampled(std::int64_t rows, std::int64_t columns, double sparsity, ScalarType element,
                     std::uint64_t seed = 3) {
  SparseMatrix matrix = sample_matrix({.rows = rows, .columns = columns, .sparsity = sparsity, .seed = seed});
  round_values(matrix, element);
  return matrix;
}

/// The matrix without the non-zeros of rows of an odd number.
SparseMatrix with_empty_rows(const SparseMatrix& matrix) {
  SparseMatrix result{matrix.rows, matrix.columns, {0}, {}, {}, matrix.element};
  for (std::size_t row = 0; row < static_cast<std::size_t>(matrix.rows); ++row) {
    for (auto at = static_cast<std::size_t>(matrix.offsets[row]);
         row % 2 == 0 && at < static_cast<std::size_t>(matrix.offsets[row + 1]); ++at) {
      result.column_of.push_back(matrix.column_of[at]);
      result.values.push_back(matrix.values[at]);
    }
    result.offsets.push_back(static_cast<std::int64_t>(result.column_of.size()));
  }
  return result;
}

void expect_unpacked(const SparseMatrix& matrix, const BitmapSchedule& schedule) {
  const EmulatedKernel kernel(layer_of(matrix, 64, schedule));
  for (const KernelCall& call : kernel.unpackings(matrix)) {
    EXPECT_EQ(kernel.unpacking_problem(matrix, call), "")
        << print_unpacking(call) << " of " << matrix.rows << " x " << matrix.columns;
  }
}

TEST(BitmapUnpacking, GivesTheMatrixWhateverItsTails) {
  struct Shape {
    std::int64_t rows;
    std::int64_t columns;
  };
  for (const Shape& shape :
       {Shape{1, 1}, Shape{15, 255}, Shape{16, 256}, Shape{17, 257}, Shape{33, 64}, Shape{40, 1030}, Shape{70, 63}}) {
    for (const ScalarType element : {ScalarType::f16, ScalarType::bf16}) {
      const SparseMatrix matrix = sampled(shape.rows, shape.columns, shape.rows == 1 ? 0 : 0.6, element);
      expect_unpacked(matrix, of_warps);
      expect_unpacked(matrix, of_warpgroups);
      expect_unpacked(matrix, of_clusters);
    }
  }
}

TEST(BitmapUnpacking, WritesTheZerosOfEmptyRows) {
  expect_unpacked(with_empty_rows(sampled(37, 600, 0.3, ScalarType::f16)), of_warps);
  expect_unpacked(with_empty_rows(sampled(37, 600, 0.99, ScalarType::bf16)), of_warpgroups);
}

TEST(BitmapUnpacking, GivesAMatrixWithoutZeros) { expect_unpacked(sampled(20, 300, 0, ScalarType::bf16), of_warps); }

TEST(BitmapUnpacking, IsLeftOutWhereAFamilyCannot) {
  EXPECT_EQ(header_source(layer_of(sampled(20, 64, 0.5, ScalarType::f16), 64, PanelSchedule{}).layer).find("_unpack"),
            std::string::npos);
  SparseMatrix none{4, 8, {0, 0, 0, 0, 0}, {}, {}, ScalarType::f16};
  EXPECT_EQ(header_source(layer_of(none, 8, of_warps).layer).find("_unpack"), std::string::npos);
  EXPECT_NE(header_source(layer_of(sampled(20, 64, 0.5, ScalarType::f16), 8, of_warps).layer).find("layer_unpack("),
            std::string::npos);
}

TEST(BitmapUnpacking, DoesNotDependOnTheOrderOfThreads) {
  const SparseMatrix matrix = sampled(70, 2563, 0.6, ScalarType::f16);
  for (const BitmapSchedule& schedule : {of_warps, of_warpgroups, of_clusters}) {
    const EmulatedKernel kernel(layer_of(matrix, 64, schedule, linear_nk_nest(matrix.element)));
    for (KernelCall call : kernel.unpackings(matrix)) {
      for (std::uint64_t order = 1; order <= 4; ++order) {
        call.order = order;
        EXPECT_EQ(kernel.unpacking_problem(matrix, call), "") << print_unpacking(call) << ", order " << order;
      }
    }
  }
}

/// Each mistake is found, in one of the calls at least.
TEST(BitmapUnpacking, IsJudged) {
  const SparseMatrix matrix = sampled(37, 2563, 0.6, ScalarType::f16);
  const GeneratedLayer layer = layer_of(matrix, 8, of_warps);
  const std::string text = tests::kernel_text(layer);
  struct Mistake {
    const char* right;
    const char* wrong;
  };
  const Mistake mistakes[] = {{"__syncwarp();\n    if ((early_units", "if ((early_units"},
                              {"wait_for_unit(shared_memory, turn, unit_stage, copy);", ""},
                              {"early_units + turn) % unit_stages", "turn) % unit_stages"},
                              {"c < window_steps", "c < 0"},
                              {"-2 * block_of_pair + 1", "1"},
                              {"load_a(places, 4 * t,", "load_a(places, 0,"},
                              {"panel * panel_height", "unit_panel * 8"},
                              {"reinterpret_cast<size_t>(A) | ", ""},
                              {"k + 1 < columns && at_once", "k < columns && at_once"},
                              {"tile[r] >> 16 * v", "tile[r]"}};
  for (const Mistake& mistake : mistakes) {
    const std::size_t at = text.rfind(mistake.right, text.find("layer_values_kernel("));
    ASSERT_NE(at, text.npos) << mistake.right << "\n" << text;
    const EmulatedKernel changed(layer,
                                 std::string(text).replace(at, std::string(mistake.right).size(), mistake.wrong));
    std::string found;
    for (const KernelCall& call : changed.unpackings(matrix)) {
      found += changed.unpacking_problem(matrix, call);
    }
    EXPECT_NE(found, "") << mistake.right << " -> " << mistake.wrong;
  }
}

}  // namespace
}  // namespace esc
