// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <iostream>
#include <vector>

#include "generator/matrix/sample.h"
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
using tests::NamedMatrix;
using tests::ScheduleFor;
using tests::transformer_problem;

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

INSTANTIATE_TEST_SUITE_P(EveryPart, RowsSweep, testing::Range(std::size_t{0}, parts),
                         [](const testing::TestParamInfo<std::size_t>& part) { return fmt::format("{}", part.param); });

TEST(RowsMatrixWithoutNonZeros, MakesCZero) {
  const SparseMatrix zero{5, 9, {0, 0, 0, 0, 0, 0}, {}, {}};
  const GeneratedLayer layer = layer_of(zero, 33, RowsSchedule{.vector = 1});
  const EmulatedKernel kernel(layer);
  for (const ProductCase& product : {ProductCase{33, 33, 33}, ProductCase{7, 8, 9, 1, 1}}) {
    const JudgedProduct judged = kernel.multiply(zero, product);
    EXPECT_TRUE(judged.passed()) << print(product) << ": " << tests::print(judged);
  }
  EXPECT_EQ(transformer_problem(layer, zero), "");
}

}  // namespace
}  // namespace esc
