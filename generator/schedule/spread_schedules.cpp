// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/spread_schedules.h"

#include "generator/schedule/fitted_schedule.h"

namespace esc {
namespace {

/// Lanes of eight columns of C each share the columns of a panel of so many rows: all lanes of a warp, or every second
/// one.
PanelSchedule lanes_over_columns(int rows, int warps, int panels, int groups = 32) {
  return {.ufi = rows,
          .columns = 256 / groups,
          .vector = 8,
          .groups = groups,
          .warps = warps,
          .panels = panels,
          .ufk = 4,
          .stage = true};
}

/// The best of three for that many elements of C: where there are few, two warps share a panel, and where there are
/// many a block reads a panel for sixteen columns. Fitted to 42 products on one NVIDIA H200
/// (docs/journal/2026-11-24-float32-and-tf32-nests.md).
PanelSchedule best_by_size(std::int64_t elements) {
  return elements <= 16384   ? lanes_over_columns(4, 2, 2)
         : elements <= 32768 ? lanes_over_columns(4, 1, 4)
                             : lanes_over_columns(4, 1, 4, 16);
}

}  // namespace

std::vector<ScheduleChoice> spread_schedules(const LayerShape& shape) {
  const RowsSchedule rows{.columns = 8, .vector = 8, .unroll = 4, .task = RowsSchedule::max_task, .light = 8};
  // Behind the first one, those for matrices that it does not take: with less shared memory for a block, and with fewer
  // explicit zeros.
  std::vector<Schedule> schedules{best_by_size(shape.rows * shape.bcol), lanes_over_columns(4, 4, 1),
                                  lanes_over_columns(2, 1, 4), lanes_over_columns(2, 4, 1), rows};
  if (follows_power_law(shape)) {
    schedules = {rows};
  }
  std::vector<ScheduleChoice> choices;
  for (const Schedule& schedule : schedules) {
    choices.push_back({fitted(schedule, {shape.bcol, false}), "by rule: not measured for this layout"});
  }
  return choices;
}

}  // namespace esc
