// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <optional>
#include <vector>

#include "generator/support/error.h"
#include "tests/support/emulated_layer.h"
#include "tests/support/random_case.h"
#include "tests/support/schedule_part.h"

namespace esc {
namespace {

using tests::awkward_bcol;
using tests::awkward_half_matrix;
using tests::awkward_matrix;
using tests::EmulatedKernel;
using tests::half_product_case;
using tests::JudgedProduct;
using tests::layer_of;
using tests::product_case;
using tests::transformer_problem;
using tests::wide_half_matrix;

/// Any schedule of family panel that is legal for bCol.
rc::Gen<PanelSchedule> panel_schedule(std::int64_t bcol) {
  return rc::gen::map(rc::gen::pair(rc::gen::elementOf(tests::legal_panel_for(bcol)), rc::gen::arbitrary<bool>()),
                      [](const std::pair<PanelSchedule, bool>& drawn) {
                        PanelSchedule schedule = drawn.first;
                        schedule.pdl = drawn.second;
                        return schedule;
                      });
}

/// The layer, or nothing where the staged regions of the matrix do not fit into shared memory.
std::optional<GeneratedLayer> legal_layer(const SparseMatrix& matrix, std::int64_t bcol,
                                          const PanelSchedule& schedule) {
  try {
    return layer_of(matrix, bcol, schedule);
  } catch (const ScheduleError&) {
    RC_ASSERT(schedule.stage);
    return std::nullopt;
  }
}

/// The kernel emitted for each schedule agrees with the float64 product in whatever order its blocks and threads run,
/// and does nothing that the emulator forbids.
void check_kernels(const SparseMatrix& matrix, std::int64_t bcol, const rc::Gen<ProductCase>& product_case) {
  const auto schedules = *rc::gen::container<std::vector<PanelSchedule>>(2, panel_schedule(bcol)).as("schedules");
  const auto order = *rc::gen::arbitrary<std::uint64_t>().as("order of blocks and threads");
  const auto products = *rc::gen::container<std::vector<ProductCase>>(2, product_case).as("products");
  for (const PanelSchedule& schedule : schedules) {
    const std::optional<GeneratedLayer> layer = legal_layer(matrix, bcol, schedule);
    if (!layer) {
      continue;
    }
    const EmulatedKernel kernel(*layer);
    for (const ProductCase& product : products) {
      const JudgedProduct judged = kernel.multiply(matrix, product, order);
      RC_LOG() << print(schedule) << ", " << print(product) << ": " << tests::print(judged) << "\n";
      RC_ASSERT(judged.passed());
    }
  }
}

RC_GTEST_PROP(EmittedPanelKernel, AgreesWithTheReference, ()) {
  const auto bcol = *awkward_bcol(257).as("bCol");
  check_kernels(*awkward_matrix(60).as("matrix"), bcol, product_case(bcol));
}

RC_GTEST_PROP(EmittedPanelKernel, OfSixteenBitsAgreesWithTheReference, ()) {
  const auto bcol = *awkward_bcol(257).as("bCol");
  check_kernels(*awkward_half_matrix(60).as("matrix"), bcol, half_product_case(bcol));
}

RC_GTEST_PROP(EmittedPanelKernel, OfSixteenBitsAndManyColumnsAgreesWithTheReference, ()) {
  const auto bcol = *awkward_bcol(9).as("bCol");
  check_kernels(*wide_half_matrix().as("matrix"), bcol, half_product_case(bcol));
}

void check_transformer(const SparseMatrix& matrix) {
  const auto schedule = *panel_schedule(32).as("schedule");
  const std::optional<GeneratedLayer> layer = legal_layer(matrix, 32, schedule);
  RC_PRE(layer.has_value());
  const std::string problem = transformer_problem(*layer, matrix);
  RC_LOG() << print(schedule) << ": " << problem << "\n";
  RC_ASSERT(problem.empty());
}

RC_GTEST_PROP(EmittedPanelTransformer, WritesTheBytesOfThePackedMatrix, ()) {
  check_transformer(*awkward_matrix(24).as("matrix"));
}

RC_GTEST_PROP(EmittedPanelTransformer, OfSixteenBitsWritesTheBytesOfThePackedMatrix, ()) {
  check_transformer(*awkward_half_matrix(24).as("matrix"));
}

}  // namespace
}  // namespace esc
