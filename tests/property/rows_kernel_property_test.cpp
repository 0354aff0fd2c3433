// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

#include "generator/support/error.h"
#include "tests/support/emulated_layer.h"
#include "tests/support/random_case.h"

namespace esc {
namespace {

using tests::awkward_bcol;
using tests::awkward_half_matrix;
using tests::awkward_matrix;
using tests::EmulatedKernel;
using tests::half_product_case;
using tests::JudgedProduct;
using tests::layer_of;
using tests::legal_rows_schedule;
using tests::product_case;
using tests::transformer_problem;
using tests::wide_half_matrix;

/// The schedule for the matrix: sums that are rounded once are those of whole rows.
RowsSchedule suited(RowsSchedule schedule, const SparseMatrix& matrix) {
  while (is_half(matrix.element) && schedule.task < matrix.longest_row()) {
    schedule.task *= 2;
  }
  return schedule;
}

/// The kernel emitted for each schedule agrees with the float64 product in whatever order its blocks and threads run,
/// and does nothing that the emulator forbids.
void check_kernels(const SparseMatrix& matrix, std::int64_t bcol, const rc::Gen<ProductCase>& product_case) {
  const auto schedules = *rc::gen::container<std::vector<RowsSchedule>>(2, legal_rows_schedule(bcol)).as("schedules");
  const auto order = *rc::gen::arbitrary<std::uint64_t>().as("order of blocks and threads");
  const auto products = *rc::gen::container<std::vector<ProductCase>>(2, product_case).as("products");
  for (const RowsSchedule& schedule : schedules) {
    const EmulatedKernel kernel(layer_of(matrix, bcol, suited(schedule, matrix)));
    for (const ProductCase& product : products) {
      const JudgedProduct judged = kernel.multiply(matrix, product, order);
      RC_LOG() << print(schedule) << ", " << print(product) << ": " << tests::print(judged) << "\n";
      RC_ASSERT(judged.passed());
    }
  }
}

RC_GTEST_PROP(EmittedRowsKernel, AgreesWithTheReference, ()) {
  const auto bcol = *awkward_bcol(257).as("bCol");
  check_kernels(*awkward_matrix(60).as("matrix"), bcol, product_case(bcol));
}

RC_GTEST_PROP(EmittedRowsKernel, OfSixteenBitsAgreesWithTheReference, ()) {
  const auto bcol = *awkward_bcol(257).as("bCol");
  check_kernels(*awkward_half_matrix(60).as("matrix"), bcol, half_product_case(bcol));
}

RC_GTEST_PROP(EmittedRowsKernel, OfSixteenBitsAndManyColumnsAgreesWithTheReference, ()) {
  const auto bcol = *awkward_bcol(9).as("bCol");
  check_kernels(*wide_half_matrix().as("matrix"), bcol, half_product_case(bcol));
}

TEST(EmittedRowsKernel, OfSixteenBitsHasWholeRows) {
  SparseMatrix matrix{1, 9, {0, 9}, {}, {}, ScalarType::bf16};
  for (std::int32_t column = 0; column < 9; ++column) {
    matrix.column_of.push_back(column);
    matrix.values.push_back(1);
  }
  EXPECT_THROW(layer_of(matrix, 8, RowsSchedule{.columns = 8, .vector = 4, .task = 8, .light = 8}), ScheduleError);
  EXPECT_NO_THROW(layer_of(matrix, 8, RowsSchedule{.columns = 8, .vector = 4, .task = 16, .light = 8}));
}

void check_transformer(const SparseMatrix& matrix) {
  const auto schedule = suited(*legal_rows_schedule(32).as("schedule"), matrix);
  const std::string problem = transformer_problem(layer_of(matrix, 32, schedule), matrix);
  RC_LOG() << print(schedule) << ": " << problem << "\n";
  RC_ASSERT(problem.empty());
}

RC_GTEST_PROP(EmittedRowsTransformer, WritesTheBytesOfThePackedMatrix, ()) {
  check_transformer(*awkward_matrix(24).as("matrix"));
}

RC_GTEST_PROP(EmittedRowsTransformer, OfSixteenBitsWritesTheBytesOfThePackedMatrix, ()) {
  check_transformer(*awkward_half_matrix(24).as("matrix"));
}

}  // namespace
}  // namespace esc
