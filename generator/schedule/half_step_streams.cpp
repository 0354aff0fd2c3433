// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/half_step_streams.h"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "generator/schedule/even_panels.h"
#include "generator/schedule/listed_streams.h"
#include "generator/schedule/quotient_up.h"
#include "generator/schedule/streamed_size.h"

namespace esc {
namespace {

constexpr int most_columns = 32;
constexpr int block_warps = 12;
constexpr int block_warps_of_one_column = 16;  // whose windows leave room for them

/// 8192 x 8192, 11,008 x 4096, 8192 x 28,672 and 28,672 x 8192 at 50 and 60 % zeros with 8, 16 and 32 columns.
bool is_half_full(const LayerShape& shape, const KernelTarget& target) {
  constexpr double densest = 0.55;
  return streams_past_cache(shape, target) && !pays_in_quarters(shape) && shape.bcol <= most_columns &&
         shape.density() <= densest;
}

/// So many units are on their way as a block has room for beside its windows of B, those of two stages at least.
StreamSchedule with_few_columns(int panels, int warps, int columns, const LayerShape& shape,
                                const KernelTarget& target) {
  constexpr int block_units = 24;
  const bool is_narrow = columns < StreamSchedule::least_columns_of_boxes;
  StreamSchedule schedule{.columns = columns,
                          .panels = panels,
                          .warps = warps,
                          .stages = std::clamp(block_units / (panels * warps), 2, 3),
                          .copies = is_narrow || line_rows_of_boxes(columns, shape.columns, shape.bcol) > 1
                                        ? StreamSchedule::Copies::bulk
                                        : StreamSchedule::Copies::units};
  if (!fits_shared_memory(schedule, streamed_size(shape).unit_bytes, shape, target)) {
    schedule.stages = 2;
  }
  return schedule;
}

/// Blocks of all panels that a multiprocessor gets; where they have more panels than warps, and fewer non-zeros leave
/// memory time, in two turns: 28,672 x 8192 at 60 % zeros with 8 columns took 0.89 of the time so on an H200.
StreamSchedule with_few_columns(const StreamedSize& size, int columns, const LayerShape& shape,
                                const KernelTarget& target) {
  constexpr double densest_of_two_turns = 0.45;
  const int panels = panels_of_one_block(size, target);
  if (panels > block_warps && shape.density() <= densest_of_two_turns) {
    return with_few_columns(static_cast<int>(quotient_up(panels, 2)), 2, columns, shape, target);
  }
  const int most_warps = columns == 1 ? block_warps_of_one_column : block_warps;
  const unsigned warps = std::bit_floor(static_cast<unsigned>(std::max(1, most_warps / panels)));
  return with_few_columns(panels, static_cast<int>(warps), columns, shape, target);
}

/// The windows of more columns fill half of the shared memory: two warps of a panel as far as that goes, and blocks for
/// two turns rather than high ones.
StreamSchedule with_many_columns(int panels, int columns) {
  return {.columns = columns,
          .panels = panels,
          .warps = fewest_warps(panels),
          .stages = 2,
          .copies = StreamSchedule::Copies::bulk};
}

StreamSchedule fastest_in_half_steps(const LayerShape& shape, const KernelTarget& target) {
  const StreamedSize size = streamed_size(shape);
  const int columns = stream_columns(shape);
  return columns < most_columns ? with_few_columns(size, columns, shape, target)
                                : with_many_columns(even_panels(size, columns, target), columns);
}

}  // namespace

std::vector<ScheduleChoice> half_step_streams(const LayerShape& shape, const KernelTarget& target) {
  if (!is_half_full(shape, target) || !listed_streams(shape, target).empty()) {
    return {};
  }
  return with_leaner_if_spread(
      fastest_in_half_steps(shape, target), shape, target,
      "by rule: layers larger than a cache with half of their elements not zero are streamed by as few blocks as there "
      "are multiprocessors; measured on one NVIDIA H100 and one H200");
}

}  // namespace esc
