#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

#include "tests/support/emulated_layer.h"
#include "tests/support/random_case.h"

namespace esc {
namespace {

using tests::awkward_bcol;
using tests::awkward_matrix;
using tests::EmulatedKernel;
using tests::JudgedProduct;
using tests::layer_of;
using tests::legal_rows_schedule;
using tests::product_case;
using tests::transformer_problem;

/// The kernel emitted for each schedule agrees with the float64 product in whatever order its blocks and threads run,
/// and does nothing that the emulator forbids.
RC_GTEST_PROP(EmittedRowsKernel, AgreesWithTheReference, ()) {
  const auto bcol = *awkward_bcol(257).as("bCol");
  const auto matrix = *awkward_matrix(60).as("matrix");
  const auto schedules = *rc::gen::container<std::vector<RowsSchedule>>(2, legal_rows_schedule(bcol)).as("schedules");
  const auto order = *rc::gen::arbitrary<std::uint64_t>().as("order of blocks and threads");
  const auto products = *rc::gen::container<std::vector<ProductCase>>(2, product_case(bcol)).as("products");
  for (const RowsSchedule& schedule : schedules) {
    const EmulatedKernel kernel(layer_of(matrix, bcol, schedule));
    for (const ProductCase& product : products) {
      const JudgedProduct judged = kernel.multiply(matrix, product, order);
      RC_LOG() << print(schedule) << ", " << print(product) << ": " << tests::print(judged) << "\n";
      RC_ASSERT(judged.passed());
    }
  }
}

RC_GTEST_PROP(EmittedRowsTransformer, WritesTheBytesOfThePackedMatrix, ()) {
  const auto matrix = *awkward_matrix(24).as("matrix");
  const auto schedule = *legal_rows_schedule(32).as("schedule");
  const std::string problem = transformer_problem(layer_of(matrix, 32, schedule), matrix);
  RC_LOG() << print(schedule) << ": " << problem << "\n";
  RC_ASSERT(problem.empty());
}

}  // namespace
}  // namespace esc
