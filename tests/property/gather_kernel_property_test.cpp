// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

#include "generator/emit/generate.h"
#include "generator/matrix/sample.h"
#include "tests/support/emulated_layer.h"
#include "tests/support/random_case.h"

namespace esc {
namespace {

using tests::awkward_bcol;
using tests::awkward_matrix;
using tests::EmulatedKernel;
using tests::JudgedProduct;
using tests::layer_of;
using tests::product_case;
using tests::transformer_problem;

rc::Gen<GatherSchedule> schedule_of_few_warps() {
  return rc::gen::map(rc::gen::tuple(rc::gen::inRange(1, 5), rc::gen::inRange(1, GatherSchedule::max_sets + 1),
                                     rc::gen::arbitrary<bool>()),
                      [](const std::tuple<int, int, bool>& drawn) {
                        const auto& [warps, sets, pdl] = drawn;
                        return GatherSchedule{.sets = sets, .warps = warps, .pdl = pdl};
                      });
}

/// The schedule for the matrix: lists have the room of the fullest one, of which not all sizes fit into shared memory,
/// and of some matrices none.
GatherSchedule suited(GatherSchedule schedule, const SparseMatrix& matrix) {
  for (;;) {
    try {
      layer_of(matrix, 1, schedule);
      return schedule;
    } catch (const UnsuitableSchedule&) {
      RC_PRE(schedule.warps > 1 || schedule.sets > 1);
      int& larger = schedule.warps > 1 ? schedule.warps : schedule.sets;
      larger /= 2;
    }
  }
}

/// The kernel emitted for each schedule agrees with the float64 product in whatever order its blocks and threads run,
/// and does nothing that the emulator forbids.
void check_kernels(const SparseMatrix& matrix, std::int64_t bcol) {
  const auto schedules = *rc::gen::container<std::vector<GatherSchedule>>(2, schedule_of_few_warps()).as("schedules");
  const auto order = *rc::gen::arbitrary<std::uint64_t>().as("order of blocks and threads");
  const auto products = *rc::gen::container<std::vector<ProductCase>>(2, product_case(bcol)).as("products");
  for (const GatherSchedule& schedule : schedules) {
    const EmulatedKernel kernel(layer_of(matrix, bcol, suited(schedule, matrix)));
    for (const ProductCase& product : products) {
      const JudgedProduct judged = kernel.multiply(matrix, product, order);
      RC_LOG() << print(schedule) << ", " << print(product) << ": " << tests::print(judged) << "\n";
      RC_ASSERT(judged.passed());
    }
  }
}

/// Columns of one K tile to ten, that a K tile divides or not, whose rows are evenly long or not.
SparseMatrix matrix_of_k_tiles() {
  const auto structure = *rc::gen::element(SampleStructure::uniform, SampleStructure::powerlaw).as("structure");
  return sample_matrix({.rows = *rc::gen::inRange(1, 90).as("rows"),
                        .columns = *rc::gen::element<std::int64_t>(1, 255, 256, 257, 1024, 1100, 2500).as("columns"),
                        .sparsity = *rc::gen::element(0.5, 0.9, 0.99).as("sparsity"),
                        .structure = structure,
                        .seed = *rc::gen::inRange<std::uint64_t>(1, 1000).as("seed")});
}

RC_GTEST_PROP(EmittedGatherKernel, AgreesWithTheReference, ()) {
  const auto bcol = *awkward_bcol(257).as("bCol");
  const SparseMatrix matrix = *awkward_matrix(60).as("matrix");
  RC_PRE(matrix.element == ScalarType::f32);
  check_kernels(matrix, bcol);
}

RC_GTEST_PROP(EmittedGatherKernel, OfSeveralWindowsAgreesWithTheReference, ()) {
  const auto bcol = *awkward_bcol(70).as("bCol");
  check_kernels(matrix_of_k_tiles(), bcol);
}

RC_GTEST_PROP(EmittedGatherTransformer, WritesThePackedFile, ()) {
  const SparseMatrix matrix = matrix_of_k_tiles();
  RC_ASSERT(
      transformer_problem(layer_of(matrix, 32, suited(*schedule_of_few_warps().as("schedule"), matrix)), matrix) == "");
}

}  // namespace
}  // namespace esc
