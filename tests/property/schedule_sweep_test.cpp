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
using tests::transformer_problem;

/// The schedules of one row tile height, to be run beside those of the others.
class ScheduleSweep : public testing::TestWithParam<int> {};

TEST_P(ScheduleSweep, AgreesWithTheReference) {
  const std::vector<ScheduleFor> legal = tests::legal_atomic();
  EmulatedSweep sweep(awkward_shapes(), static_cast<std::size_t>(GetParam()));
  for (const ScheduleFor& one : full_sweep() ? legal : tests::ordinary_part(legal)) {
    if (std::get<AtomicSchedule>(one.schedule).ufi == GetParam()) {
      sweep.check(one);
    }
  }
  EXPECT_GE(sweep.kernels(), full_sweep() ? 16 * 4 * 8 * 2 : static_cast<int>(tests::in_this_build(16)))
      << "16 UFk, 4 WarpTiles, 8 numbers of threads, 2 forms";
  std::cout << fmt::format("row tiles of {}: {}\n", GetParam(), sweep.summary());
}

[[maybe_unused]] const bool schedule_sweep_is_sampled = tests::sample_suite("EveryHeight/ScheduleSweep", 3);

INSTANTIATE_TEST_SUITE_P(EveryHeight, ScheduleSweep, testing::Range(1, AtomicSchedule::max_ufi + 1),
                         [](const testing::TestParamInfo<int>& ufi) { return fmt::format("{}", ufi.param); });

/// There is no kernel then, whatever the schedule.
TEST(MatrixWithoutNonZeros, MakesCZero) {
  const SparseMatrix zero{5, 9, {0, 0, 0, 0, 0, 0}, {}, {}};
  const GeneratedLayer layer = layer_of(zero, 33, AtomicSchedule());
  const EmulatedKernel kernel(layer);
  for (const ProductCase& product : {ProductCase{33, 33, 33}, ProductCase{7, 8, 9, 1, 1}}) {
    const JudgedProduct judged = kernel.multiply(zero, product);
    EXPECT_TRUE(judged.passed()) << print(product) << ": " << print(judged);
  }
  EXPECT_EQ(transformer_problem(layer, zero), "");
}

}  // namespace
}  // namespace esc
