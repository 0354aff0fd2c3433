// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <iostream>
#include <vector>

#include "generator/matrix/sample.h"
#include "tests/support/emulated_sweep.h"
#include "tests/support/run_size.h"

namespace esc {
namespace {

using tests::awkward_shapes;
using tests::EmulatedSweep;
using tests::full_sweep;
using tests::NamedMatrix;
using tests::ScheduleFor;

/// The shapes that are awkward for every kernel, and rows whose lengths differ by orders of magnitude.
std::vector<NamedMatrix> shapes_for_rows() {
  std::vector<NamedMatrix> shapes = awkward_shapes();
  shapes.push_back(
      {"power law",
       sample_matrix(
           {.rows = 300, .columns = 700, .sparsity = 0.985, .structure = SampleStructure::powerlaw, .seed = 5})});
  return shapes;
}

/// What a run takes. What multiplies the space beyond what a whole run draws, task and light, changes no line of the
/// kernel.
std::vector<ScheduleFor> schedules_of_the_run() {
  const std::vector<ScheduleFor> legal = tests::legal_rows();
  return full_sweep() ? tests::drawn_part(legal, [](std::int64_t) { return std::size_t{1600}; })
                      : tests::ordinary_part(legal);
}

/// One of the parts of the run, to be run beside each other.
class RowsSweep : public testing::TestWithParam<std::size_t> {};
constexpr std::size_t parts = 4;

TEST_P(RowsSweep, AgreesWithTheReference) {
  EmulatedSweep sweep(shapes_for_rows(), GetParam());
  const std::vector<ScheduleFor> schedules = schedules_of_the_run();
  for (std::size_t index = GetParam(); index < schedules.size(); index += parts) {
    ScheduleFor one = schedules[index];
    std::get<RowsSchedule>(one.schedule).pdl = sweep.kernels() % 3 != 0;
    sweep.check(one);
  }
  EXPECT_GE(sweep.kernels(), static_cast<int>(schedules.size() / parts));
  std::cout << sweep.summary() << "\n";
}

[[maybe_unused]] const bool rows_sweep_is_sampled = tests::sample_suite("EveryPart/RowsSweep", 2);

INSTANTIATE_TEST_SUITE_P(EveryPart, RowsSweep, testing::Range(std::size_t{0}, parts),
                         [](const testing::TestParamInfo<std::size_t>& part) { return fmt::format("{}", part.param); });

TEST(RowsMatrixWithoutNonZeros, MakesCZero) { tests::check_without_nonzeros(9, RowsSchedule{.vector = 1}); }

}  // namespace
}  // namespace esc
