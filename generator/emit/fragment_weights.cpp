// SPDX-License-Identifier: Apache-2.0
#include "generator/emit/fragment_weights.h"

#include <cstdint>

#include "generator/emit/fragment_text.h"
#include "generator/emit/print_kernel.h"
#include "generator/lower/stream_windows.h"
#include "generator/schedule/stream_schedule.h"

namespace esc {
namespace {

/// What takes the time of so many bytes of fragments for each column of C: an extra, where its row pair has the most, and the products of a step.
constexpr double extra_bytes = 40;
constexpr double step_bytes = 7.6;
/// And of a step of either kind whatever the columns. Not measured: with it random matrices have as many steps as when a quarter step had the metadata of a half one, for which the others were.
constexpr double read_step_bytes = 50;
/// And an extra where bytes are saved by quarter steps and columns are so few that a block waits for memory.
constexpr std::int64_t few_columns = 16;
constexpr double hidden_extra_bytes = 100;
/// And one for each 16 rows of a panel where a step takes the time of three products and of splitting B, and warps that share a window a part of the extras each.
constexpr double split_extra_bytes = 10;

}  // namespace

/// Measured on one NVIDIA H200 and, with quarter steps and for split products, one H100. Without quarter steps all steps have the same bytes, which count for their products too.
transformer::FragmentWeights fragment_weights(const LoopNest& nest) {
  const auto columns = static_cast<double>(nest.packed.columns);
  const std::int64_t rounds = nest.constant("turn_windows") * (has_clusters(nest) ? nest.constant("cluster_blocks") : 1);
  transformer::FragmentWeights weights{.extra = extra_bytes * columns, .rounds_at_once = static_cast<std::uint32_t>(rounds)};
  if (nest.packed.listed_values) {
    weights.round = static_cast<double>(nest.constant("window_columns") * bytes_of(nest.element())) * columns;
  } else if (splits_products(nest)) {
    const std::int64_t share = shares_windows(nest) ? nest.constant("window_warps") : 1;
    const auto strips = static_cast<double>(nest.packed.height / StreamSchedule::strip_rows);
    weights.extra = split_extra_bytes * columns * strips / static_cast<double>(share);
    weights.steps_at_once = static_cast<std::uint32_t>(share * nest.constant("chained_steps"));
  } else if (nest.packed.quarter_steps) {
    weights.extra = nest.packed.columns <= few_columns ? hidden_extra_bytes : weights.extra;
    weights.step = read_step_bytes + step_bytes * columns;
  }
  return weights;
}

}  // namespace esc
