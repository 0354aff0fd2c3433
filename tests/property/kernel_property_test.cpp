// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
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
using tests::legal_schedule;
using tests::product_case;
using tests::transformer_problem;

/// The longest lists: short ones, so that most patterns of a row tile take several, and the usual limit.
rc::Gen<std::uint32_t> longest_list() { return rc::gen::element<std::uint32_t>(1, 2, 5, 1024); }

/// Several for each matrix, because a case is cheap beside what can go wrong in it.
rc::Gen<std::vector<AtomicSchedule>> schedules(std::int64_t bcol, int highest_row_tile, bool compaction) {
  const auto schedule = rc::gen::map(legal_schedule(bcol), [highest_row_tile, compaction](AtomicSchedule drawn) {
    drawn.ufi = std::min(drawn.ufi, highest_row_tile);
    drawn.compaction = compaction;
    return drawn;
  });
  return rc::gen::container<std::vector<AtomicSchedule>>(4, schedule);
}

/// The kernel emitted for each schedule agrees with the float64 product in whatever order its blocks and threads run,
/// and does nothing that the emulator forbids.
void check_kernels(const SparseMatrix& matrix, std::int64_t bcol, const std::vector<AtomicSchedule>& schedules) {
  const auto limit = *longest_list().as("longest list");
  const auto order = *rc::gen::arbitrary<std::uint64_t>().as("order of blocks and threads");
  const auto products = *rc::gen::container<std::vector<ProductCase>>(2, product_case(bcol)).as("products");
  for (const AtomicSchedule& schedule : schedules) {
    const EmulatedKernel kernel(layer_of(matrix, bcol, schedule, limit));
    for (const ProductCase& product : products) {
      const JudgedProduct judged = kernel.multiply(matrix, product, order);
      RC_LOG() << print(Schedule(schedule)) << ", " << print(product) << ": " << print(judged) << "\n";
      RC_ASSERT(judged.passed());
    }
  }
}

RC_GTEST_PROP(EmittedKernel, WithOneBodyPerPopulationCountAgreesWithTheReference, ()) {
  const auto bcol = *awkward_bcol(257).as("bCol");
  const auto matrix = *awkward_matrix(40).as("matrix");
  check_kernels(matrix, bcol, *schedules(bcol, AtomicSchedule::max_ufi, true).as("schedules"));
}

RC_GTEST_PROP(EmittedKernel, WithOneBodyPerPatternAgreesWithTheReference, ()) {
  const auto bcol = *awkward_bcol(257).as("bCol");
  const auto matrix = *awkward_matrix(40).as("matrix");
  check_kernels(matrix, bcol, *schedules(bcol, 3, false).as("schedules"));
}

/// A tall row tile has up to 255 patterns, and time goes with the text, so the matrices have few columns.
RC_GTEST_PROP(EmittedKernel, WithOneBodyPerPatternOfTallPanelsAgreesWithTheReference, ()) {
  const auto bcol = *awkward_bcol(257).as("bCol");
  const auto matrix = *awkward_matrix(9).as("matrix");
  check_kernels(matrix, bcol, *schedules(bcol, AtomicSchedule::max_ufi, false).as("schedules"));
}

RC_GTEST_PROP(EmittedTransformer, WritesTheBytesOfThePackedMatrix, ()) {
  const auto matrix = *awkward_matrix(60).as("matrix");
  const auto schedule = *legal_schedule(32).as("schedule");
  const auto limit = *longest_list().as("longest list");
  const std::string problem = transformer_problem(layer_of(matrix, 32, schedule, limit), matrix);
  RC_LOG() << problem << "\n";
  RC_ASSERT(problem.empty());
}

}  // namespace
}  // namespace esc
