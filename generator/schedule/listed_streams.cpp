// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/listed_streams.h"

#include <cstdint>
#include <optional>

#include "generator/schedule/quotient_up.h"
#include "generator/schedule/streamed_size.h"

namespace esc {
namespace {

/// With fewer non-zeros steps of the sparse tensor core have about as many bytes, and their values need not be found.
constexpr double sparsest = 0.45;
constexpr long long most_columns = 16;

/// What was the fastest, or within 4 % of that, with blocks of so many strips of 16 rows; none for heights that were
/// not measured.
std::optional<StreamSchedule> fastest_with_lists(std::int64_t strips, long long bcol) {
  constexpr std::int64_t most_low_panels = 6;
  constexpr std::int64_t least_of_high_panels = 12;
  constexpr int warps = 12;  // of a block: fewer find too few values at once
  StreamSchedule schedule{.columns = widest_stream(bcol),
                          .stages = 2,
                          .copies = StreamSchedule::Copies::units,
                          .dense = StreamSchedule::Dense::listed};
  if (strips == 4 && schedule.columns < StreamSchedule::least_columns_of_boxes) {
    schedule.rows = StreamSchedule::max_rows;
    schedule.panels = 2;
    schedule.warps = 4;
    return schedule;
  }
  if (strips <= most_low_panels) {
    schedule.panels = static_cast<int>(strips);
    schedule.warps = warps / schedule.panels;
    return schedule;
  }
  if (strips < least_of_high_panels || strips > StreamSchedule::max_panels) {
    return std::nullopt;
  }
  schedule.rows = StreamSchedule::max_rows;
  schedule.panels = static_cast<int>(quotient_up(strips, schedule.row_strips()));
  schedule.warps = 1;
  schedule.stages = 3;
  return schedule;
}

}  // namespace

std::vector<ScheduleChoice> listed_streams(const LayerShape& shape, const KernelTarget& target) {
  const bool measured = streams_past_cache(shape, target) && shape.bcol <= most_columns && shape.density() >= sparsest;
  if (!measured || has_fast_memory(target)) {
    return {};
  }
  // A block for each multiprocessor: one that has two finds the values of both, which takes longer than to read what is
  // saved.
  const std::int64_t strips = quotient_up(quotient_up(shape.rows, StreamSchedule::strip_rows), target.multiprocessors);
  const std::optional<StreamSchedule> schedule = fastest_with_lists(strips, shape.bcol);
  if (!schedule) {
    return {};
  }
  return with_leaner_if_spread(*schedule, shape, target,
                               "by rule: layers larger than a cache with half of their elements not zero are streamed "
                               "with listed values; measured on one NVIDIA H100");
}

}  // namespace esc
