#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <set>
#include <utility>
#include <vector>

#include "generator/matrix/drawn_value.h"
#include "generator/matrix/sample.h"
#include "tests/support/awkward_shapes.h"
#include "tests/support/emulated_layer.h"

namespace esc {
namespace {

using tests::awkward_shapes;
using tests::EmulatedKernel;
using tests::full_sweep;
using tests::JudgedProduct;
using tests::layer_of;
using tests::NamedMatrix;
using tests::transformer_problem;

/// What bCol allows depends on how far it is from a power of two and from what four floats divide.
constexpr std::array<std::int64_t, 9> bcols{1, 4, 31, 32, 33, 64, 100, 128, 257};

/// The shapes that are awkward for every kernel, and rows whose lengths differ by orders of magnitude.
std::vector<NamedMatrix> shapes_for_rows() {
  std::vector<NamedMatrix> shapes = awkward_shapes();
  shapes.push_back(
      {"power law",
       sample_matrix(
           {.rows = 300, .columns = 700, .sparsity = 0.985, .structure = SampleStructure::powerlaw, .seed = 5})});
  return shapes;
}

/// The schedules that are legal for one bCol.
class RowsSweep : public testing::TestWithParam<std::int64_t> {};

/// The part of the sweep that an ordinary run takes, and the whole one's: schedules of each bCol, drawn by a hash of
/// their text. What multiplies the space beyond that, task and light, changes no line of the kernel.
bool in_run(const RowsSchedule& schedule, std::size_t legal) {
  std::uint64_t hash = 0;
  for (const char character : print(schedule)) {
    hash = mix_bits(hash ^ static_cast<unsigned char>(character));
  }
  const std::uint64_t wanted = full_sweep() ? 1600 : 16;
  return hash % legal < wanted;
}

TEST_P(RowsSweep, AgreesWithTheReference) {
  const std::int64_t bcol = GetParam();
  const std::vector<NamedMatrix> shapes = shapes_for_rows();
  const std::vector<RowsSchedule> legal = legal_rows_schedules(bcol);
  std::size_t turn = static_cast<std::size_t>(bcol);
  int kernels = 0;
  double worst_share = 0;
  for (RowsSchedule schedule : legal) {
    if (!in_run(schedule, legal.size())) {
      continue;
    }
    ++turn;
    schedule.pdl = turn % 3 != 0;
    const NamedMatrix& shape = shapes[turn % shapes.size()];
    const auto n = static_cast<std::int32_t>(bcol);
    const std::array<std::int32_t, 4> widths{1, n, n + 9, std::max(1, n - 5)};
    const std::int32_t other = widths[turn / shapes.size() % widths.size()];
    const GeneratedLayer layer = layer_of(shape.matrix, bcol, schedule);
    const EmulatedKernel kernel(layer);
    for (const ProductCase& product :
         {ProductCase{n, n, n, 0}, ProductCase{other, other + 3, other + 5, static_cast<int>(turn % 4)}}) {
      const JudgedProduct judged = kernel.multiply(shape.matrix, product);
      EXPECT_TRUE(judged.passed()) << print(schedule) << " on '" << shape.name << "', bCol " << bcol << ", "
                                   << print(product) << ": " << tests::print(judged);
      worst_share = std::max(worst_share, judged.error / judged.tolerance);
    }
    if (kernels++ % 4 == 0) {
      EXPECT_EQ(transformer_problem(layer, shape.matrix), "") << print(schedule) << " on '" << shape.name << "'";
    }
  }
  EXPECT_GE(kernels, full_sweep() ? 1000 : 8);
  std::cout << fmt::format("bCol {}: {} of {} schedules, at worst {:.2f} of the tolerance\n", bcol, kernels,
                           legal.size(), worst_share);
}

INSTANTIATE_TEST_SUITE_P(EveryBCol, RowsSweep, testing::ValuesIn(bcols),
                         [](const testing::TestParamInfo<std::int64_t>& bcol) {
                           return fmt::format("{}", bcol.param);
                         });

TEST(OrdinaryRowsRun, CoversTheValuesOfTheParameters) {
  std::set<std::pair<char, int>> seen;
  for (const std::int64_t bcol : bcols) {
    const std::vector<RowsSchedule> legal = legal_rows_schedules(bcol);
    for (const RowsSchedule& schedule : legal) {
      if (in_run(schedule, legal.size())) {
        for (const auto& value :
             {std::pair{'c', schedule.columns}, std::pair{'v', schedule.vector}, std::pair{'u', schedule.unroll},
              std::pair{'t', schedule.task}, std::pair{'l', schedule.light}, std::pair{'w', schedule.warps}}) {
          seen.insert(value);
        }
      }
    }
  }
  // 8 widths of a tile, 3 of a vector, 4 unrollings, 5 numbers of warps; lengths of a task, and of a light one
  EXPECT_GE(seen.size(), 8U + 3 + 4 + 5 + 9 + 8);
}

TEST(RowsMatrixWithoutNonZeros, MakesCZero) {
  const SparseMatrix zero{5, 9, {0, 0, 0, 0, 0, 0}, {}, {}};
  const GeneratedLayer layer = layer_of(zero, 33, RowsSchedule{.vector = 1});
  const EmulatedKernel kernel(layer);
  for (const ProductCase& product : {ProductCase{33, 33, 33, 0}, ProductCase{7, 8, 9, 1}}) {
    const JudgedProduct judged = kernel.multiply(zero, product);
    EXPECT_TRUE(judged.passed()) << print(product) << ": " << tests::print(judged);
  }
  EXPECT_EQ(transformer_problem(layer, zero), "");
}

}  // namespace
}  // namespace esc
