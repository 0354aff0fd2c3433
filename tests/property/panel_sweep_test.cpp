// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <iostream>
#include <vector>

#include "tests/support/emulated_layer.h"
#include "tests/support/emulated_sweep.h"
#include "tests/support/run_size.h"

namespace esc {
namespace {

using tests::awkward_shapes;
using tests::EmulatedKernel;
using tests::EmulatedSweep;
using tests::full_sweep;
using tests::JudgedProduct;
using tests::layer_of;
using tests::ScheduleFor;

/// What a run takes. Each schedule that is legal for any bCol is legal for the widest, so that a whole run takes all of
/// those, and of the others a part.
std::vector<ScheduleFor> schedules_of_the_run() {
  const std::vector<ScheduleFor> legal = tests::legal_panel();
  constexpr std::int64_t widest = 128;
  return full_sweep()
             ? tests::drawn_part(legal, [](std::int64_t bcol) { return bcol == widest ? tests::all_of_them : 240; })
             : tests::ordinary_part(legal);
}

/// One of the parts of the run, to be run beside each other.
class PanelSweep : public testing::TestWithParam<std::size_t> {};
constexpr std::size_t parts = 4;

TEST_P(PanelSweep, AgreesWithTheReference) {
  EmulatedSweep sweep(awkward_shapes(), GetParam());
  const std::vector<ScheduleFor> schedules = schedules_of_the_run();
  for (std::size_t index = GetParam(); index < schedules.size(); index += parts) {
    ScheduleFor one = schedules[index];
    std::get<PanelSchedule>(one.schedule).pdl = sweep.kernels() % 3 != 0;
    sweep.check(one);
  }
  EXPECT_GE(sweep.kernels(), static_cast<int>(schedules.size() / parts));
  std::cout << sweep.summary() << "\n";
}

[[maybe_unused]] const bool panel_sweep_is_sampled = tests::sample_suite("EveryPart/PanelSweep", 2);

INSTANTIATE_TEST_SUITE_P(EveryPart, PanelSweep, testing::Range(std::size_t{0}, parts),
                         [](const testing::TestParamInfo<std::size_t>& part) { return fmt::format("{}", part.param); });

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
  tests::check_without_nonzeros(9, PanelSchedule{.vector = 1, .groups = 1});
}

}  // namespace
}  // namespace esc
