// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/one_column_streams.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <variant>

#include "generator/schedule/stream_schedule.h"
#include "generator/schedule/streamed_size.h"

namespace esc {
namespace {

/// 2048 x 2048 to 5120 x 5120, 8192 x 2048 and 2560 x 10,240 at 50 to 90 % zeros. With fewer non-zeros, or fewer rows,
/// family panel is faster.
bool was_measured_in_cache(const LayerShape& shape) {
  constexpr double smallest = 2048.0 * 2048;
  constexpr double middle = 4096.0 * 4096;
  constexpr std::int64_t fewest_rows = 2048;
  const double least_density = shape.elements() < middle ? 0.25 : 0.18;
  return stream_columns(shape) == 1 && has_rows_of_b(shape) && !exceeds_cache(shape) && shape.elements() >= smallest &&
         shape.rows >= fewest_rows && shape.density() >= least_density && !follows_power_law(shape);
}

/// Whether two panels are faster as one of 32 rows. Four with half of their elements not zero are in chains alone.
bool pays_in_high_panels(int panels, const LayerShape& shape) {
  constexpr double densest_of_four = 0.45;
  return panels == 2 || (panels == 4 && shape.density() <= densest_of_four);
}

bool can_have_one_column(const StreamSchedule& schedule) {
  const bool shares_windows = schedule.share > 1 || schedule.cluster > 1;
  const bool is_high_in_quarters = schedule.quarters && schedule.rows > StreamSchedule::strip_rows;
  return !schedule.has_one_column() && schedule.dense == StreamSchedule::Dense::off && !shares_windows &&
         !is_high_in_quarters;
}

}  // namespace

std::vector<ScheduleChoice> one_column_streams(const LayerShape& shape, const KernelTarget& target) {
  constexpr int most_panels = 4;
  constexpr int most_warps = 4;
  const int panels = panels_of_one_block(streamed_size(shape), target);
  if (!was_measured_in_cache(shape) || panels > most_panels ||
      target.oldest_architecture < StreamSchedule::bulk_architecture) {
    return {};
  }
  StreamSchedule schedule{.columns = 1,
                          .panels = panels,
                          .warps = warps_of_two_turns(shape, most_warps),
                          .stages = 2,
                          .copies = StreamSchedule::Copies::bulk};
  if (pays_in_high_panels(panels, shape)) {
    schedule.panels = panels / (StreamSchedule::max_rows / StreamSchedule::strip_rows);
    schedule.rows = StreamSchedule::max_rows;
  }
  return with_leaner(
      with_warps_that_fit(schedule, shape, target),
      "by rule: layers that a cache holds are streamed for one column of B by itself; measured on one NVIDIA H200");
}

std::vector<ScheduleChoice> with_one_column(std::vector<ScheduleChoice> choices, const LayerShape& shape) {
  if (stream_columns(shape) != 1) {
    return choices;
  }
  std::vector<ScheduleChoice> result;
  for (ScheduleChoice& choice : choices) {
    if (auto* const stream = std::get_if<StreamSchedule>(&choice.schedule);
        stream != nullptr && can_have_one_column(*stream)) {
      stream->columns = 1;
      mark_changed(choice, "; for one column by itself by rule");
    }
    if (std::ranges::find(result, choice.schedule, &ScheduleChoice::schedule) == result.end()) {
      result.push_back(std::move(choice));
    }
  }
  return result;
}

}  // namespace esc
