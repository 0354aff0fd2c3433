// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

#include "generator/ir/linear_nk_nest.h"
#include "generator/lower/canonicalize.h"
#include "generator/pipeline.h"
#include "generator/schedule/schedule_choice.h"
#include "tests/support/nest_memory.h"
#include "tests/support/random_case.h"

namespace esc {
namespace {

using tests::awkward_bcol;
using tests::awkward_matrix;
using tests::awkward_streamed_matrix;
using tests::largest_difference;
using tests::legal_panel_schedule;
using tests::legal_rows_schedule;
using tests::legal_schedule;
using tests::legal_stream_schedule;
using tests::memory_for;
using tests::nest_memory;
using tests::panel_nest_memory;
using tests::rows_nest_memory;
using tests::windowed_matrix;

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

/// What no sum may begin with: from here on every element of C is stored, or set to zero by the nest in front.
void poison(Memory& memory) { std::ranges::fill(memory.arrays.at("C").elements, std::nan("")); }

/// The same for family panel.
RC_GTEST_PROP(Lowering, EveryStageOfFamilyPanelComputesWhatTheInputComputes, ()) {
  const auto bcol = *awkward_bcol(140).as("bCol");
  const auto schedule = *legal_panel_schedule(bcol).as("schedule");
  const auto matrix = *awkward_matrix(bcol > 40 ? 12 : 24).as("matrix");
  Memory memory = panel_nest_memory(matrix, bcol, schedule, 7);

  const auto steps = lower_by_steps(spmm_nest(), expand(schedule));
  const Memory oracle = interpret(steps.front().nest, memory);
  for (const LoweredStep& step : steps) {
    if (step.name == (schedule.warps > 1 ? "share()" : "shuffle()")) {
      poison(memory);
    }
    const double difference = largest_difference(oracle, interpret(step.nest, memory));
    RC_LOG() << step.name << ": largest difference " << difference << "\n";
    RC_ASSERT(difference < 1e-12);
  }
}

/// The same for family rows.
RC_GTEST_PROP(Lowering, EveryStageOfFamilyRowsComputesWhatTheInputComputes, ()) {
  const auto bcol = *awkward_bcol(140).as("bCol");
  const auto schedule = *legal_rows_schedule(bcol).as("schedule");
  const auto matrix = *awkward_matrix(bcol > 40 ? 12 : 24).as("matrix");
  Memory memory = rows_nest_memory(matrix, bcol, schedule, 7);

  const auto steps = lower_by_steps(spmm_nest(), expand(schedule));
  const Memory oracle = interpret(steps.front().nest, memory);
  for (const LoweredStep& step : steps) {
    if (step.name == "shuffle()") {
      poison(memory);
    }
    const double difference = largest_difference(oracle, interpret(step.nest, memory));
    RC_LOG() << step.name << ": largest difference " << difference << "\n";
    RC_ASSERT(difference < 1e-12);
  }
}

/// Either has columns of B next to each other, or rows.
LoopNest drawn_product(ScalarType element) {
  const bool transposed = *rc::gen::arbitrary<bool>().as("B and C are transposed");
  return canonicalize(transposed ? linear_nk_nest(element) : spmm_nest(element));
}

/// The nest of a schedule for numbers of 16 bits rounds its sums, which the interpreter has in double; that of one for float32 stores them.
void check_stages_of_stream(const SparseMatrix& matrix, std::int64_t bcol, const StreamSchedule& schedule, const LoopNest& product) {
  const auto steps = lower_by_steps(product, directives_of({schedule, "user"}, product.finishes_sums()));
  Memory memory = memory_for(steps.back().nest, matrix, bcol, 7);
  const Memory oracle = interpret(steps.front().nest, memory);
  for (const LoweredStep& step : steps) {
    if (step.name.starts_with("fragment(")) {
      poison(memory);
    }
    const double difference = largest_difference(oracle, interpret(step.nest, memory));
    RC_LOG() << step.name << ": largest difference " << difference << "\n";
    RC_ASSERT(difference < 1e-12);
  }
}

void check_stages_of_stream(const SparseMatrix& matrix, std::int64_t bcol) {
  const auto schedule = *legal_stream_schedule(bcol, matrix.element).as("schedule");
  check_stages_of_stream(matrix, bcol, schedule, drawn_product(matrix.element));
}

RC_GTEST_PROP(Lowering, EveryStageOfFamilyStreamComputesWhatTheInputComputes, ()) {
  check_stages_of_stream(*awkward_streamed_matrix(40).as("matrix"), *awkward_bcol(20).as("bCol"));
}

RC_GTEST_PROP(Lowering, EveryStageOfFamilyStreamComputesWhatTheInputComputesInSeveralWindows, ()) {
  check_stages_of_stream(*windowed_matrix(9).as("matrix"), *awkward_bcol(4).as("bCol"));
}

}  // namespace
}  // namespace esc
