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

/// The shapes that are awkward for every kernel, and lists of many K tiles that are about equally long or not.
std::vector<NamedMatrix> shapes_for_lists() {
  std::vector<NamedMatrix> shapes = awkward_shapes();
  for (const SampleStructure structure : {SampleStructure::uniform, SampleStructure::powerlaw}) {
    shapes.push_back(
        {structure == SampleStructure::uniform ? "k_tiles" : "uneven K tiles",
         sample_matrix({.rows = 130, .columns = 1700, .sparsity = 0.97, .structure = structure, .seed = 5})});
  }
  shapes.push_back({"few non-zeros", sample_matrix({.rows = 700, .columns = 1100, .sparsity = 0.999, .seed = 5})});
  return shapes;
}

/// One of the parts of the run, to be run beside each other.
class GatherSweep : public testing::TestWithParam<std::size_t> {};
constexpr std::size_t parts = 2;
constexpr std::size_t one_of_so_many = 5;  ///< in an ordinary run

TEST_P(GatherSweep, AgreesWithTheReference) {
  EmulatedSweep sweep(shapes_for_lists(), GetParam());
  const std::vector<ScheduleFor> schedules = tests::legal_gather();
  const std::size_t step = full_sweep() ? 1 : one_of_so_many;
  for (std::size_t index = GetParam() * step; index < schedules.size(); index += parts * step) {
    ScheduleFor one = schedules[index];
    std::get<GatherSchedule>(one.schedule).pdl = sweep.kernels() % 3 != 0;
    sweep.check(one);
  }
  EXPECT_GE(sweep.kernels(), static_cast<int>(schedules.size() / (parts * step)));
  std::cout << sweep.summary() << "\n";
}

[[maybe_unused]] const bool gather_sweep_is_sampled = tests::sample_suite("EveryPart/GatherSweep", 1);

INSTANTIATE_TEST_SUITE_P(EveryPart, GatherSweep, testing::Range(std::size_t{0}, parts),
                         [](const testing::TestParamInfo<std::size_t>& part) { return fmt::format("{}", part.param); });

TEST(GatherMatrixWithoutNonZeros, MakesCZero) {
  tests::check_without_nonzeros(900, GatherSchedule{.sets = 1, .warps = 1});
}

}  // namespace
}  // namespace esc
