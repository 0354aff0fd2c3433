#include <fmt/format.h>
#include <gtest/gtest.h>

#include <iostream>
#include <vector>

#include "generator/matrix/sample.h"
#include "tests/support/emulated_layer.h"
#include "tests/support/emulated_sweep.h"

namespace esc {
namespace {

using tests::awkward_shapes;
using tests::EmulatedKernel;
using tests::EmulatedSweep;
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

/// With and without programmatic launches in turn.
void check_all(const std::vector<ScheduleFor>& schedules) {
  EmulatedSweep sweep(shapes_for_rows());
  for (ScheduleFor one : schedules) {
    std::get<RowsSchedule>(one.schedule).pdl = sweep.kernels() % 3 != 0;
    sweep.check(one);
  }
  EXPECT_EQ(sweep.kernels(), static_cast<int>(schedules.size()));
  std::cout << sweep.summary() << "\n";
}

TEST(RowsPart, AgreesWithTheReference) { check_all(tests::ordinary_part(tests::legal_rows())); }

/// The schedules that are legal for one bCol, in a whole run: what multiplies the space beyond the drawn part, task and
/// light, changes no line of the kernel.
class RowsSweep : public testing::TestWithParam<std::int64_t> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(RowsSweep);

TEST_P(RowsSweep, AgreesWithTheReference) { check_all(tests::drawn_part(tests::legal_rows(), GetParam(), 1600)); }

INSTANTIATE_TEST_SUITE_P(EveryBCol, RowsSweep, testing::ValuesIn(tests::bcols_of_a_whole_run()),
                         [](const testing::TestParamInfo<std::int64_t>& bcol) {
                           return fmt::format("{}", bcol.param);
                         });

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
