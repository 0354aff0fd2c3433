#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

#include "generator/pipeline.h"
#include "tests/support/nest_memory.h"
#include "tests/support/random_case.h"

namespace esc {
namespace {

using tests::awkward_bcol;
using tests::awkward_matrix;
using tests::largest_difference;
using tests::legal_panel_schedule;
using tests::legal_rows_schedule;
using tests::legal_schedule;
using tests::nest_memory;
using tests::panel_nest_memory;
using tests::rows_nest_memory;

std::vector<Pattern> all_patterns(int height) {
  std::vector<Pattern> patterns;
  for (std::uint64_t mask = 1; mask < std::uint64_t{1} << height; ++mask) {
    patterns.push_back({mask, height});
  }
  return patterns;
}

/// The oracle of every form is the untransformed nest, interpreted in double. A sum of at most 40 products of numbers
/// below 1 differs by less than 1e-12 between two orders.
RC_GTEST_PROP(Lowering, EveryStageComputesWhatTheInputComputes, ()) {
  const auto matrix = *awkward_matrix(40).as("matrix");
  const auto bcol = *awkward_bcol(100).as("bCol");
  const auto schedule = *legal_schedule(bcol).as("schedule");
  const auto longest_list = *rc::gen::element<std::uint32_t>(1, 3, 1024).as("longest list");
  const Memory memory = nest_memory(matrix, bcol, schedule.ufi, longest_list, 7);

  const auto steps = lower_by_steps(spmm_nest(), expand(schedule), all_patterns(schedule.ufi));
  const Memory oracle = interpret(steps.front().nest, memory);
  for (const LoweredStep& step : steps) {
    const double difference = largest_difference(oracle, interpret(step.nest, memory));
    RC_LOG() << step.name << ": largest difference " << difference << "\n";
    RC_ASSERT(difference < 1e-12);
  }
}

/// The same for family panel. From the reduction on C is stored, so that it holds what no sum may begin with.
RC_GTEST_PROP(Lowering, EveryStageOfFamilyPanelComputesWhatTheInputComputes, ()) {
  const auto bcol = *awkward_bcol(140).as("bCol");
  const auto schedule = *legal_panel_schedule(bcol).as("schedule");
  const auto matrix = *awkward_matrix(bcol > 40 ? 12 : 24).as("matrix");
  Memory memory = panel_nest_memory(matrix, bcol, schedule, 7);

  const auto steps = lower_by_steps(spmm_nest(), expand(schedule));
  const Memory oracle = interpret(steps.front().nest, memory);
  for (const LoweredStep& step : steps) {
    if (step.name == "reduce()") {
      std::ranges::fill(memory.arrays.at("C").elements, std::nan(""));
    }
    const double difference = largest_difference(oracle, interpret(step.nest, memory));
    RC_LOG() << step.name << ": largest difference " << difference << "\n";
    RC_ASSERT(difference < 1e-12);
  }
}

/// The rows of C that are stored, and may hold anything: those that are one task.
void poison_whole_rows(const SparseMatrix& matrix, const RowsSchedule& schedule, Tensor& c) {
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    const auto at = static_cast<std::size_t>(row);
    if (matrix.offsets[at + 1] - matrix.offsets[at] <= schedule.task) {
      const auto first = c.elements.begin() + static_cast<std::ptrdiff_t>(row * c.extents[1]);
      std::fill(first, first + static_cast<std::ptrdiff_t>(c.extents[1]), std::nan(""));
    }
  }
}

/// The same for family rows. From the reduction on rows that are not split are stored.
RC_GTEST_PROP(Lowering, EveryStageOfFamilyRowsComputesWhatTheInputComputes, ()) {
  const auto bcol = *awkward_bcol(140).as("bCol");
  const auto schedule = *legal_rows_schedule(bcol).as("schedule");
  const auto matrix = *awkward_matrix(bcol > 40 ? 12 : 24).as("matrix");
  Memory memory = rows_nest_memory(matrix, bcol, schedule, 7);

  const auto steps = lower_by_steps(spmm_nest(), expand(schedule));
  const Memory oracle = interpret(steps.front().nest, memory);
  for (const LoweredStep& step : steps) {
    if (step.name == "reduce()") {
      poison_whole_rows(matrix, schedule, memory.arrays.at("C"));
    }
    const double difference = largest_difference(oracle, interpret(step.nest, memory));
    RC_LOG() << step.name << ": largest difference " << difference << "\n";
    RC_ASSERT(difference < 1e-12);
  }
}

}  // namespace
}  // namespace esc
