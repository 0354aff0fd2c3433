// SPDX-License-Identifier: Apache-2.0
// NAME_unpack on the emulated grid: to the bit the matrix that was packed, and nothing between its rows. NAME_values:
// to the byte what the matrix of other values is packed to.

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "generator/emit/generate.h"
#include "generator/emit/sources.h"
#include "generator/ir/linear_nk_nest.h"
#include "generator/matrix/round_values.h"
#include "generator/matrix/sample.h"
#include "tests/support/covering_sample.h"
#include "tests/support/emulated_layer.h"
#include "tests/support/nest_memory.h"
#include "tests/support/run_size.h"

namespace esc {
namespace {

using tests::EmulatedKernel;
using tests::layer_of;

constexpr BitmapSchedule of_warps{.columns = 8, .row_tiles = 2, .warps = 2, .stages = 3, .packed_tiles = 2};
constexpr BitmapSchedule of_warpgroups{
    .columns = 64, .row_tiles = 4, .warps = 1, .stages = 3, .packed_tiles = 3, .mma = BitmapSchedule::Mma::warpgroup};

constexpr BitmapSchedule of_clusters{
    .columns = 8, .row_tiles = 1, .warps = 2, .stages = 3, .packed_tiles = 2, .cluster = 2};

constexpr BitmapSchedule of_sparse24{.columns = 8,
                                     .row_tiles = 2,
                                     .warps = 2,
                                     .stages = 3,
                                     .packed_tiles = 2,
                                     .format = BitmapSchedule::Format::sparse24};

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

/// A matrix whose last row tiles and packed tiles lack rows and columns, or do not, and a schedule for it.
struct Tails {
  std::int64_t rows;
  std::int64_t columns;
  ScalarType element;
  const BitmapSchedule* schedule;

  SparseMatrix matrix() const {
    const SparseMatrix whole = sampled(rows, columns, rows == 1 ? 0 : 0.6, element);
    return schedule->is_sparse24() ? tests::with_two_of_four(whole) : whole;
  }
};

/// All of them in a whole run, else those in which all pairs of shape, type and schedule come up.
std::vector<Tails> tails_of_the_run() {
  std::vector<Tails> all;
  for (const auto& [rows, columns] :
       {std::pair(1, 1), {15, 255}, {16, 256}, {17, 257}, {33, 64}, {40, 1030}, {70, 63}}) {
    for (const ScalarType element : {ScalarType::f16, ScalarType::bf16}) {
      for (const BitmapSchedule* const schedule : {&of_warps, &of_warpgroups, &of_clusters, &of_sparse24}) {
        all.push_back({rows, columns, element, schedule});
      }
    }
  }
  return tests::full_sweep() ? all : tests::covering_part(all, [](const Tails& tails) {
    return std::vector{static_cast<int>(tails.rows), static_cast<int>(tails.element), tails.schedule->cluster,
                       static_cast<int>(tails.schedule->mma), static_cast<int>(tails.schedule->is_sparse24())};
  });
}

TEST(BitmapUnpacking, GivesTheMatrixWhateverItsTails) {
  for (const Tails& tails : tails_of_the_run()) {
    expect_unpacked(tails.matrix(), *tails.schedule);
  }
}

TEST(BitmapUnpacking, WritesTheZerosOfEmptyRows) {
  expect_unpacked(with_empty_rows(sampled(37, 600, 0.3, ScalarType::f16)), of_warps);
  expect_unpacked(with_empty_rows(sampled(37, 600, 0.99, ScalarType::bf16)), of_warpgroups);
}

TEST(BitmapUnpacking, GivesAMatrixWithoutZeros) { expect_unpacked(sampled(20, 300, 0, ScalarType::bf16), of_warps); }

TEST(Sparse24Unpacking, DoesNotDependOnTheOrderOfThreads) {
  const SparseMatrix matrix = tests::with_two_of_four(sampled(70, 2563, 0.6, ScalarType::f16));
  const EmulatedKernel kernel(layer_of(matrix, 64, of_sparse24, linear_nk_nest(matrix.element)));
  for (KernelCall call : kernel.unpackings(matrix)) {
    for (std::uint64_t order = 1; order <= 4; ++order) {
      call.order = order;
      EXPECT_EQ(kernel.unpacking_problem(matrix, call), "") << print_unpacking(call) << ", order " << order;
    }
  }
}

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

struct Mistake {
  const char* right;
  const char* wrong;
};

/// Each mistake, where the text has it last before `behind`, is a problem in one of the calls at least.
template <class Problem>
void expect_found(const GeneratedLayer& layer, const std::string& text, std::size_t behind,
                  std::span<const Mistake> mistakes, const Problem& problem, const SparseMatrix& matrix) {
  for (const Mistake& mistake : mistakes) {
    const std::size_t at = text.rfind(mistake.right, behind);
    ASSERT_NE(at, text.npos) << mistake.right << "\n" << text;
    const EmulatedKernel changed(layer,
                                 std::string(text).replace(at, std::string(mistake.right).size(), mistake.wrong));
    std::string found;
    for (const KernelCall& call : changed.unpackings(matrix)) {
      found += problem(changed, call);
    }
    EXPECT_NE(found, "") << mistake.right << " -> " << mistake.wrong;
  }
}

TEST(BitmapUnpacking, IsJudged) {
  const SparseMatrix matrix = sampled(37, 2563, 0.6, ScalarType::f16);
  const GeneratedLayer layer = layer_of(matrix, 8, of_warps);
  const std::string text = tests::kernel_text(layer);
  const Mistake mistakes[] = {
      {"__syncwarp();\n    if ((early_packed_tiles", "if ((early_packed_tiles"},
      {"wait_for_packed_tile(shared_memory, iteration, packed_tile_stage, copy);", ""},
      {"early_packed_tiles + iteration) % packed_tile_stages", "iteration) % packed_tile_stages"},
      {"c < k_tile_steps", "c < 0"},
      {"-2 * block_of_pair + 1", "1"},
      {"load_a(places, 4 * t,", "load_a(places, 0,"},
      {"row_tile * row_tile_height", "packed_tile_row_tile * 8"},
      {"takes_four(A, lda) && ", ""},
      {"first_column + k < columns", "k < columns"},
      {"tile[h + e / 2 * 2] >> 16 * (e % 2)", "tile[h + e / 2 * 2]"}};
  expect_found(
      layer, text, text.find("layer_values_kernel("), mistakes,
      [&](const EmulatedKernel& changed, const KernelCall& call) { return changed.unpacking_problem(matrix, call); },
      matrix);
}

/// Other values in the pattern of the matrix: `kinds` in turn among those of a sample.
SparseMatrix with_other_values(SparseMatrix matrix, std::span<const double> kinds = {}) {
  for (std::size_t at = 0; at < matrix.values.size(); ++at) {
    const std::size_t kind = at % (kinds.size() + 1);
    matrix.values[at] = kind < kinds.size() ? kinds[kind] : -1.0 - static_cast<double>(at % 251);
  }
  return matrix;
}

/// What is wrong after a call of NAME_values: the first fault, or byte that is not that of the layer of these values.
std::string repacking_problem(const EmulatedKernel& kernel, const GeneratedLayer& layer, const SparseMatrix& values,
                              const GeneratedLayer& of_values, const KernelCall& call) {
  const EmulatedProduct result = kernel.repacked(values, call);
  return result.problems.empty() ? wrong_byte_of_packed(layer.bytes(), of_values.bytes(), result.c.bytes())
                                 : result.problems.front();
}

void expect_repacked(const SparseMatrix& matrix, const SparseMatrix& values, const BitmapSchedule& schedule) {
  const GeneratedLayer layer = layer_of(matrix, 64, schedule);
  const GeneratedLayer of_values = layer_of(values, 64, schedule);
  const EmulatedKernel kernel(layer);
  for (const KernelCall& call : kernel.unpackings(matrix)) {
    EXPECT_EQ(repacking_problem(kernel, layer, values, of_values, call), "")
        << print_unpacking(call, UnpackFunction::values) << " of " << matrix.rows << " x " << matrix.columns;
  }
}

TEST(BitmapRepacking, GivesWhatOtherValuesPackToWhateverTheTails) {
  for (const Tails& tails : tails_of_the_run()) {
    const SparseMatrix matrix = tails.matrix();
    expect_repacked(matrix, with_other_values(matrix), *tails.schedule);
  }
}

TEST(BitmapRepacking, TakesMatricesWithEmptyRowsAndWithoutZeros) {
  const SparseMatrix empty = with_empty_rows(sampled(37, 600, 0.3, ScalarType::f16));
  expect_repacked(empty, with_other_values(empty), of_warps);
  const SparseMatrix emptier = with_empty_rows(sampled(37, 600, 0.99, ScalarType::bf16));
  expect_repacked(emptier, with_other_values(emptier), of_warpgroups);
  const SparseMatrix full = sampled(20, 300, 0, ScalarType::bf16);
  expect_repacked(full, with_other_values(full), of_warps);
}

TEST(BitmapRepacking, TakesWhatIsNotFinite) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr std::array kinds{infinity, -infinity, std::numeric_limits<double>::quiet_NaN()};
  for (const ScalarType element : {ScalarType::f16, ScalarType::bf16}) {
    const SparseMatrix matrix = sampled(33, 520, 0.6, element);
    expect_repacked(matrix, with_other_values(matrix, kinds), of_warps);
  }
}

/// A matrix with such values packs to another pattern, so that it is looked at unpacked.
TEST(BitmapRepacking, TakesZerosAsValues) {
  constexpr std::array kinds{0.0, -0.0};
  for (const ScalarType element : {ScalarType::f16, ScalarType::bf16}) {
    const SparseMatrix matrix = sampled(33, 520, 0.6, element);
    const SparseMatrix values = with_other_values(matrix, kinds);
    EmulatedKernel kernel(layer_of(matrix, 8, of_warps));
    const KernelCall call = kernel.unpackings(matrix).front();
    const EmulatedProduct result = kernel.repacked(values, call);
    EXPECT_TRUE(result.problems.empty()) << result.problems.front();
    kernel.take_packed(result.c.bytes());
    EXPECT_EQ(kernel.unpacking_problem(values, call), "");
  }
}

TEST(BitmapRepacking, DoesNotDependOnTheOrderOfThreads) {
  const SparseMatrix matrix = sampled(70, 2563, 0.6, ScalarType::f16);
  const SparseMatrix values = with_other_values(matrix);
  for (const BitmapSchedule& schedule : {of_warps, of_warpgroups, of_clusters}) {
    const GeneratedLayer layer = layer_of(matrix, 64, schedule, linear_nk_nest(matrix.element));
    const GeneratedLayer of_values = layer_of(values, 64, schedule, linear_nk_nest(matrix.element));
    const EmulatedKernel kernel(layer);
    for (KernelCall call : kernel.unpackings(matrix)) {
      for (std::uint64_t order = 1; order <= 4; ++order) {
        call.order = order;
        EXPECT_EQ(repacking_problem(kernel, layer, values, of_values, call), "")
            << print_unpacking(call, UnpackFunction::values) << ", order " << order;
      }
    }
  }
}

TEST(BitmapRepacking, IsJudged) {
  const SparseMatrix matrix = sampled(37, 2563, 0.6, ScalarType::f16);
  const SparseMatrix values = with_other_values(matrix);
  const GeneratedLayer layer = layer_of(matrix, 8, of_warps);
  const GeneratedLayer of_values = layer_of(values, 8, of_warps);
  const std::string text = tests::kernel_text(layer);
  const Mistake mistakes[] = {
      {"__syncwarp();\n    if ((early_packed_tiles", "if ((early_packed_tiles"},
      {"wait_for_packed_tile(shared_memory, iteration, packed_tile_stage, copy);", ""},
      {"-2 * block_of_pair + 1", "1"},
      {"packed_tile_row_tile * k_tiles + k_tile, own_packed_tile", "packed_tile_row_tile * k_tiles, own_packed_tile"},
      {"row_tile * row_tile_height", "0"},
      {"code % 4 == 2", "code == 2"},
      {"code % 4 != 0", "true"},
      {"to[code / 4 % 2]", "to[0]"},
      {"values[r] >> code % 4 / 2 * 16", "values[r]"},
      {"from[1]) << 16", "from[0]) << 16"},
      {"A + i * lda + k", "A + i * 2563 + k"},
      {"return cudaMemsetAsync(", "return cudaSuccess; cudaMemsetAsync("}};
  expect_found(
      layer, text, text.npos, mistakes,
      [&](const EmulatedKernel& changed, const KernelCall& call) {
        return repacking_problem(changed, layer, values, of_values, call);
      },
      matrix);
}

}  // namespace
}  // namespace esc
