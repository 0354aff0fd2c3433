#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <iostream>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "generator/matrix/drawn_value.h"
#include "generator/support/error.h"
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

/// The schedules that are legal for one bCol.
class PanelSweep : public testing::TestWithParam<std::int64_t> {};

/// Each schedule that is legal for any bCol is legal for this one.
constexpr std::int64_t widest = 128;

/// Whether a run takes the schedule: the full sweep all of the widest bCol's, beside that a part drawn by a hash of the text.
bool is_chosen(const PanelSchedule& schedule, std::size_t legal, std::int64_t bcol) {
  if (full_sweep() && bcol == widest) {
    return true;
  }
  std::uint64_t hash = 0;
  for (const char character : print(schedule)) {
    hash = mix_bits(hash ^ static_cast<unsigned char>(character));
  }
  const std::uint64_t wanted = full_sweep() ? 240 : 24;
  return hash % legal < wanted;
}

/// The layer, or nothing where the schedule is illegal for the matrix: staged regions that do not fit into shared memory, or
/// sums over too many columns.
std::optional<GeneratedLayer> legal_layer(const SparseMatrix& matrix, std::int64_t bcol, const PanelSchedule& schedule) {
  try {
    return layer_of(matrix, bcol, schedule);
  } catch (const ScheduleError& refused) {
    EXPECT_TRUE(schedule.stage || matrix.columns > 512) << refused.what();
    return std::nullopt;
  }
}

TEST_P(PanelSweep, AgreesWithTheReference) {
  const std::int64_t bcol = GetParam();
  const std::vector<NamedMatrix> shapes = awkward_shapes();
  const std::vector<PanelSchedule> legal = legal_panel_schedules(bcol);
  std::size_t turn = 0;
  int kernels = 0;
  int refusals = 0;
  double worst_share = 0;
  for (PanelSchedule schedule : legal) {
    ++turn;
    if (!is_chosen(schedule, legal.size(), bcol)) {
      continue;
    }
    schedule.pdl = turn % 3 != 0;
    const NamedMatrix& shape = shapes[turn % shapes.size()];
    const auto n = static_cast<std::int32_t>(bcol);
    const std::array<std::int32_t, 4> widths{1, n, n + 9, std::max(1, n - 5)};
    const std::int32_t other = widths[turn / shapes.size() % widths.size()];
    const std::optional<GeneratedLayer> layer = legal_layer(shape.matrix, bcol, schedule);
    if (!layer) {
      ++refusals;
      continue;
    }
    const EmulatedKernel kernel(*layer);
    for (const ProductCase& product :
         {ProductCase{n, n, n, 0}, ProductCase{other, other + 3, other + 5, static_cast<int>(turn % 4)}}) {
      const JudgedProduct judged = kernel.multiply(shape.matrix, product);
      EXPECT_TRUE(judged.passed()) << print(schedule) << " on '" << shape.name << "', bCol " << bcol << ", "
                                   << print(product) << ": " << tests::print(judged);
      worst_share = std::max(worst_share, judged.error / judged.tolerance);
    }
    if (kernels++ % 4 == 0) {
      EXPECT_EQ(transformer_problem(*layer, shape.matrix), "") << print(schedule) << " on '" << shape.name << "'";
    }
  }
  EXPECT_GE(kernels + refusals, full_sweep() && bcol == widest ? static_cast<int>(legal.size()) : 5);
  EXPECT_GT(kernels, refusals);
  std::cout << fmt::format(
      "bCol {}: {} of {} schedules, {} more illegal for the matrix, at worst {:.2f} of the tolerance\n",
      bcol, kernels, legal.size(), refusals, worst_share);
}

INSTANTIATE_TEST_SUITE_P(EveryBCol, PanelSweep, testing::ValuesIn(bcols),
                         [](const testing::TestParamInfo<std::int64_t>& bcol) { return fmt::format("{}", bcol.param); });

TEST(PanelRun, CoversTheValuesOfTheParameters) {
  std::set<std::pair<char, int>> seen;
  for (const std::int64_t bcol : bcols) {
    const std::vector<PanelSchedule> legal = legal_panel_schedules(bcol);
    for (const PanelSchedule& schedule : legal) {
      if (is_chosen(schedule, legal.size(), bcol)) {
        for (const auto& value : {std::pair{'i', schedule.ufi}, std::pair{'c', schedule.columns},
                                  std::pair{'v', schedule.vector}, std::pair{'g', schedule.groups},
                                  std::pair{'w', schedule.warps}, std::pair{'p', schedule.panels},
                                  std::pair{'k', schedule.ufk}, std::pair{'s', schedule.stage ? 1 : 0}}) {
          seen.insert(value);
        }
      }
    }
  }
  // 4 heights, 8 widths of a tile, 3 of a vector, 6 numbers of groups, 5 of warps, 2 unrollings, staged or not
  EXPECT_GE(seen.size(), 4U + 8 + 3 + 6 + 5 + 2 + 2 + 4) << "the last 4: numbers of panels";
}

/// A grid has at most 65,535 tiles of columns; more take a further launch.
TEST(PanelKernel, TakesMoreTilesThanAGridHas) {
  const SparseMatrix matrix{1, 2, {0, 2}, {0, 1}, {0.5F, -2.0F}};
  const EmulatedKernel kernel(layer_of(matrix, 1, PanelSchedule{.ufi = 1, .columns = 1, .vector = 1, .groups = 32, .warps = 1}));
  const ProductCase product{65537, 65538, 65539, 0};
  const JudgedProduct judged = kernel.multiply(matrix, product);
  EXPECT_TRUE(judged.passed()) << tests::print(judged);
}

TEST(PanelMatrixWithoutNonZeros, MakesCZero) {
  const SparseMatrix zero{5, 9, {0, 0, 0, 0, 0, 0}, {}, {}};
  const GeneratedLayer layer = layer_of(zero, 33, PanelSchedule{.vector = 1, .groups = 1});
  const EmulatedKernel kernel(layer);
  for (const ProductCase& product : {ProductCase{33, 33, 33, 0}, ProductCase{7, 8, 9, 1}}) {
    const JudgedProduct judged = kernel.multiply(zero, product);
    EXPECT_TRUE(judged.passed()) << print(product) << ": " << tests::print(judged);
  }
  EXPECT_EQ(transformer_problem(layer, zero), "");
}

}  // namespace
}  // namespace esc
