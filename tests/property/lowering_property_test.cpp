// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

#include "generator/ir/linear_nk_nest.h"
#include "generator/lower/canonicalize.h"
#include "generator/matrix/sample.h"
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

/// The first stage that does not compute what the input computes; empty where there is none.
std::string wrong_stage_of_stream(const SparseMatrix& matrix, std::int64_t bcol, const StreamSchedule& schedule,
                                  const LoopNest& product) {
  const auto steps = lower_by_steps(product, directives_of({schedule, "user"}, product.finishes_sums()));
  Memory memory = memory_for(steps.back().nest, matrix, bcol, 7);
  const Memory oracle = interpret(steps.front().nest, memory);
  for (const LoweredStep& step : steps) {
    if (step.name.starts_with("fragment(")) {
      poison(memory);
    }
    if (const double difference = largest_difference(oracle, interpret(step.nest, memory)); difference >= 1e-12) {
      return fmt::format("{}: largest difference {}", step.name, difference);
    }
  }
  return "";
}

void check_stages_of_stream(const SparseMatrix& matrix, std::int64_t bcol) {
  const auto schedule = *legal_stream_schedule(bcol, matrix).as("schedule");
  RC_ASSERT(wrong_stage_of_stream(matrix, bcol, schedule, drawn_product(matrix.element)) == "");
}

RC_GTEST_PROP(Lowering, EveryStageOfFamilyStreamComputesWhatTheInputComputes, ()) {
  check_stages_of_stream(*awkward_streamed_matrix(40).as("matrix"), *awkward_bcol(20).as("bCol"));
}

RC_GTEST_PROP(Lowering, EveryStageOfFamilyStreamComputesWhatTheInputComputesInSeveralWindows, ()) {
  check_stages_of_stream(*windowed_matrix(9).as("matrix"), *awkward_bcol(4).as("bCol"));
}

/// Placed values, for one consumer group and for two, of a matrix of which no block has all rows and no K tile all
/// columns.
struct PlacedCase {
  SampleOptions matrix;
  ScalarType element = ScalarType::f32;
  LoopNest (*product)(ScalarType) = spmm_nest;
  StreamSchedule schedule;
};

void PrintTo(const PlacedCase& one, std::ostream* stream) { *stream << print(one.schedule); }

class PlacedLowering : public testing::TestWithParam<PlacedCase> {};

TEST_P(PlacedLowering, EveryStageComputesWhatTheInputComputes) {
  const auto& [sample, element, product, schedule] = GetParam();
  SparseMatrix matrix = sample_matrix(sample);
  matrix.element = element;
  EXPECT_EQ(wrong_stage_of_stream(matrix, 19, schedule, canonicalize(product(element))), "");
}

INSTANTIATE_TEST_SUITE_P(Streams, PlacedLowering,
                         testing::Values(PlacedCase{{.rows = 41, .columns = 40, .sparsity = 0.5, .seed = 5},
                                                    ScalarType::f32,
                                                    spmm_nest,
                                                    {.columns = 64,
                                                     .row_tiles = 2,
                                                     .warps = 4,
                                                     .stages = 3,
                                                     .pdl = false,
                                                     .share = 2,
                                                     .rows = 32,
                                                     .copies = StreamSchedule::Copies::tma,
                                                     .cluster = 2,
                                                     .dense = StreamSchedule::Dense::placed}},
                                         PlacedCase{{.rows = 69, .columns = 40, .sparsity = 0.5, .seed = 6},
                                                    ScalarType::tf32,
                                                    linear_nk_nest,
                                                    {.columns = 64,
                                                     .row_tiles = 4,
                                                     .warps = 1,
                                                     .stages = 2,
                                                     .pdl = false,
                                                     .dense = StreamSchedule::Dense::placed}},
                                         PlacedCase{{.rows = 69, .columns = 9, .sparsity = 0.5, .seed = 7},
                                                    ScalarType::f32,
                                                    spmm_nest,
                                                    {.columns = 64,
                                                     .row_tiles = 4,
                                                     .warps = 1,
                                                     .stages = 2,
                                                     .pdl = false,
                                                     .rows = 32,
                                                     .cluster = 2,
                                                     .dense = StreamSchedule::Dense::placed}}));

}  // namespace
}  // namespace esc
