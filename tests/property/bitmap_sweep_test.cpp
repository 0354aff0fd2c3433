// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <iostream>
#include <vector>

#include "generator/ir/linear_nk_nest.h"
#include "generator/matrix/round_values.h"
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

/// The shapes that are awkward for every kernel, of both types, and packed tiles that are full, half full, alike or
/// not.
std::vector<NamedMatrix> shapes_for_bitmaps() {
  std::vector<NamedMatrix> shapes = awkward_shapes();
  for (const double sparsity : {0.0, 0.5, 0.9}) {
    for (const SampleStructure structure : {SampleStructure::uniform, SampleStructure::powerlaw}) {
      shapes.push_back(
          {fmt::format("{} packed tiles, {:.0f} % zeros", structure == SampleStructure::uniform ? "like" : "uneven",
                       100 * sparsity),
           sample_matrix({.rows = 90, .columns = 1700, .sparsity = sparsity, .structure = structure, .seed = 5})});
    }
  }
  for (std::size_t number = 0; number < shapes.size(); ++number) {
    round_values(shapes[number].matrix, number % 2 == 0 ? ScalarType::f16 : ScalarType::bf16);
  }
  return shapes;
}

/// One of the parts of the run, to be run beside each other: B and C in rows, and transposed.
class BitmapSweep : public testing::TestWithParam<std::size_t> {};
constexpr std::size_t parts = 12;

TEST_P(BitmapSweep, AgreesWithTheReference) {
  const bool in_rows = GetParam() % 2 == 0;
  EmulatedSweep sweep(shapes_for_bitmaps(), GetParam(), in_rows ? spmm_nest : linear_nk_nest);
  const std::vector<ScheduleFor> legal = tests::legal_bitmap(in_rows);
  const std::vector<ScheduleFor> schedules =
      full_sweep() ? tests::drawn_part(legal, [](std::int64_t) { return std::size_t{200}; })
                   : tests::ordinary_part(legal);
  for (std::size_t index = GetParam(); index < schedules.size(); index += parts) {
    ScheduleFor one = schedules[index];
    std::get<BitmapSchedule>(one.schedule).pdl = sweep.kernels() % 3 != 0;
    sweep.check_if_legal(one);
  }
  EXPECT_GT(sweep.kernels(), 0);
  std::cout << sweep.summary() << "\n";
}

[[maybe_unused]] const bool bitmap_sweep_is_sampled = tests::sample_suite("EveryPart/BitmapSweep", 1);

INSTANTIATE_TEST_SUITE_P(EveryPart, BitmapSweep, testing::Range(std::size_t{0}, parts),
                         [](const testing::TestParamInfo<std::size_t>& part) { return fmt::format("{}", part.param); });

TEST(BitmapMatrixWithoutNonZeros, MakesCZero) {
  tests::check_without_nonzeros(900, BitmapSchedule{.row_tiles = 1, .warps = 2}, ScalarType::f16);
}

}  // namespace
}  // namespace esc
