#include <fmt/format.h>
#include <gtest/gtest.h>

#include <iostream>
#include <vector>

#include "tests/support/emulated_layer.h"
#include "tests/support/emulated_sweep.h"

namespace esc {
namespace {

using tests::awkward_shapes;
using tests::EmulatedKernel;
using tests::EmulatedSweep;
using tests::JudgedProduct;
using tests::layer_of;
using tests::ScheduleFor;
using tests::transformer_problem;

/// With and without programmatic launches in turn.
void check_all(const std::vector<ScheduleFor>& schedules) {
  EmulatedSweep sweep(awkward_shapes());
  for (ScheduleFor one : schedules) {
    std::get<PanelSchedule>(one.schedule).pdl = sweep.kernels() % 3 != 0;
    sweep.check(one);
  }
  EXPECT_EQ(sweep.kernels(), static_cast<int>(schedules.size()));
  std::cout << sweep.summary() << "\n";
}

TEST(PanelPart, AgreesWithTheReference) { check_all(tests::ordinary_part(tests::legal_panel())); }

/// The schedules that are legal for one bCol, in a whole run.
class PanelSweep : public testing::TestWithParam<std::int64_t> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(PanelSweep);

TEST_P(PanelSweep, AgreesWithTheReference) {
  // Each schedule that is legal for any bCol is legal for the widest: of the others a part.
  constexpr std::int64_t widest = 128;
  check_all(tests::drawn_part(tests::legal_panel(), GetParam(), GetParam() == widest ? tests::all_of_them : 240));
}

INSTANTIATE_TEST_SUITE_P(EveryBCol, PanelSweep, testing::ValuesIn(tests::bcols_of_a_whole_run()),
                         [](const testing::TestParamInfo<std::int64_t>& bcol) {
                           return fmt::format("{}", bcol.param);
                         });

/// A grid has at most 65,535 tiles of columns; more take a further launch.
TEST(PanelKernel, TakesMoreTilesThanAGridHas) {
  const SparseMatrix matrix{1, 2, {0, 2}, {0, 1}, {0.5F, -2.0F}};
  const EmulatedKernel kernel(
      layer_of(matrix, 1, PanelSchedule{.ufi = 1, .columns = 1, .vector = 1, .groups = 32, .warps = 1}));
  const ProductCase product{65537, 65538, 65539};
  const JudgedProduct judged = kernel.multiply(matrix, product);
  EXPECT_TRUE(judged.passed()) << tests::print(judged);
}

TEST(PanelMatrixWithoutNonZeros, MakesCZero) {
  const SparseMatrix zero{5, 9, {0, 0, 0, 0, 0, 0}, {}, {}};
  const GeneratedLayer layer = layer_of(zero, 33, PanelSchedule{.vector = 1, .groups = 1});
  const EmulatedKernel kernel(layer);
  for (const ProductCase& product : {ProductCase{33, 33, 33}, ProductCase{7, 8, 9, 1, 1}}) {
    const JudgedProduct judged = kernel.multiply(zero, product);
    EXPECT_TRUE(judged.passed()) << print(product) << ": " << tests::print(judged);
  }
  EXPECT_EQ(transformer_problem(layer, zero), "");
}

}  // namespace
}  // namespace esc
