// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/even_panels.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <variant>

#include "generator/schedule/element_types.h"
#include "generator/schedule/quotient_up.h"

namespace esc {
namespace {

/// What was the fastest with so many panels on 4096 x 4096, 8192 x 8192 and 11,008 x 4096 with 50 to 70 % zeros, or
/// within 11 % of that.
StreamSchedule fastest_without_quarters(int panels, int columns) {
  StreamSchedule schedule{
      .columns = columns, .panels = panels, .warps = 2, .stages = 2, .copies = StreamSchedule::Copies::bulk};
  if (columns == 8) {
    constexpr int block_warps = 12;
    schedule.warps = panels == 2 ? 4 : std::max(2, block_warps / panels);
  } else if (panels == 3 && columns == 32) {
    schedule.warps = 1;
  }
  if (panels <= 3 && columns == 16) {
    schedule.copies = StreamSchedule::Copies::lanes;
  }
  return schedule;
}

/// Whether what was measured speaks for such layers.
bool holds_for(const LayerShape& shape, const KernelTarget& target) {
  constexpr double smallest = 4096.0 * 4096;
  constexpr long long most_columns = 32;
  return is_half_type(shape.dtype) && shape.layout == "kn" && shape.bcol <= most_columns &&
         shape.elements() >= smallest && !follows_power_law(shape) &&
         target.oldest_architecture >= StreamSchedule::bulk_architecture;
}

/// Panels of the busiest multiprocessor over those that each would have if they were dealt one by one.
double unevenness(const StreamSchedule& schedule, const StreamedSize& size, const KernelTarget& target) {
  return static_cast<double>(busiest_panels(schedule, size, target)) * target.multiprocessors /
         static_cast<double>(size.panels * quotient_up(size.bcol, schedule.columns));
}

}  // namespace

int even_panels(const StreamedSize& size, int columns, const KernelTarget& target) {
  constexpr int fewest = 2;
  constexpr int most = 7;
  const auto busiest = [&](int panels) { return busiest_panels({.columns = columns, .panels = panels}, size, target); };
  int best = most;
  for (int panels = most - 1; panels >= fewest; --panels) {
    if (busiest(panels) < busiest(best)) {
      best = panels;
    }
  }
  return best;
}

std::vector<ScheduleChoice> with_even_panels(std::vector<ScheduleChoice> choices, const LayerShape& shape,
                                             const KernelTarget& target, const LayerClass& measured) {
  constexpr double clearly = 1.15;
  if (!holds_for(shape, target)) {
    return choices;
  }
  const StreamedSize size = streamed_size(shape);
  const LayerClass own = class_of(shape);
  const bool is_of_these_sizes = measured.rows == own.rows && measured.columns == own.columns;
  StreamedSize of_class = size;
  of_class.panels = static_cast<std::int64_t>(std::exp2(measured.rows / 2.0)) / StreamSchedule::strip_rows;
  std::vector<ScheduleChoice> result;
  for (ScheduleChoice& choice : choices) {
    const auto* const stream = std::get_if<StreamSchedule>(&choice.schedule);
    if (stream != nullptr && stream->rows == StreamSchedule::strip_rows &&
        (!is_of_these_sizes || unevenness(*stream, size, target) >= clearly * unevenness(*stream, of_class, target))) {
      ScheduleChoice even = choice;
      even.schedule = with_warps_that_fit(
          fastest_without_quarters(even_panels(size, stream->columns, target), stream->columns), shape, target);
      mark_changed(even, "; with panels that are dealt evenly to the multiprocessors by rule");
      result.push_back(std::move(even));
    }
    result.push_back(std::move(choice));
  }
  return result;
}

}  // namespace esc
