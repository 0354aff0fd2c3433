// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/rows_schedule.h"

#include <fmt/format.h>

#include <algorithm>

#include "generator/schedule/settings.h"
#include "generator/schedule/tile_rules.h"

namespace esc {

RowsSchedule parse_rows(std::string_view text, std::string_view settings) {
  const RowsSchedule preset;
  const Settings given(text, "rows", settings, {"columns", "vector", "unroll", "task", "light", "warps", "pdl"});
  return {.columns = given.number("columns", preset.columns),
          .vector = given.number("vector", preset.vector),
          .unroll = given.number("unroll", preset.unroll),
          .task = given.number("task", preset.task),
          .light = given.number("light", preset.light),
          .warps = given.number("warps", preset.warps),
          .pdl = given.word("pdl", preset.pdl ? "on" : "off", {"on", "off"}) == "on"};
}

std::string print(const RowsSchedule& schedule) {
  return fmt::format("rows:columns={},vector={},unroll={},task={},light={},warps={},pdl={}", schedule.columns,
                     schedule.vector, schedule.unroll, schedule.task, schedule.light, schedule.warps,
                     schedule.pdl ? "on" : "off");
}

void check_ranges(const RowsSchedule& schedule) {
  const std::string text = print(schedule);
  check_power_of_two(text, "columns", schedule.columns, 1, RowsSchedule::max_columns);
  check_vector(text, schedule.vector, false);
  check_power_of_two(text, "unroll", schedule.unroll, 1, RowsSchedule::max_unroll);
  check_power_of_two(text, "task", schedule.task, 1, RowsSchedule::max_task);
  check_power_of_two(text, "light", schedule.light, 1, RowsSchedule::max_task);
  check_power_of_two(text, "warps", schedule.warps, 1, RowsSchedule::max_warps);
  check_group(text, schedule.columns, schedule.vector);
  if (const int most = RowsSchedule::max_parts; schedule.unroll * schedule.vector > most) {
    throw ScheduleError(
        text,
        fmt::format("unroll * vector = {} elements of B at a time are more than {}, what a lane has registers for",
                    schedule.unroll * schedule.vector, most),
        fmt::format("the nearest legal value is unroll={}", most / schedule.vector));
  }
  if (schedule.light > schedule.task) {
    throw ScheduleError(text, fmt::format("light={} is more than task={}", schedule.light, schedule.task),
                        fmt::format("the nearest legal value is light={}", schedule.task));
  }
}

void check_legal(const RowsSchedule& schedule, const ProductColumns& columns) {
  check_vector(print(schedule), schedule.vector, columns.are_contiguous);
  check_ranges(schedule);
  check_tile(print(schedule), schedule.columns, schedule.vector, columns);
}

std::vector<RowsSchedule> legal_rows_schedules(long long bcol) {
  std::vector<RowsSchedule> schedules;
  const auto add = [&](const RowsSchedule& schedule) {
    if (is_accepted([&] { check_legal(schedule, bcol); })) {
      schedules.push_back(schedule);
    }
  };
  for (int columns = 1; columns <= widest_tile(bcol); columns *= 2) {
    for (int vector = 1; vector <= std::min(columns, widest_vector(bcol)); vector *= 2) {
      for (int unroll = 1; unroll <= RowsSchedule::max_unroll; unroll *= 2) {
        for (int task = 1; task <= RowsSchedule::max_task; task *= 2) {
          for (int light = 1; light <= task; light *= 2) {
            for (int warps = 1; warps <= RowsSchedule::max_warps; warps *= 2) {
              add({columns, vector, unroll, task, light, warps, true});
            }
          }
        }
      }
    }
  }
  return schedules;
}

std::vector<Directive> expand(const RowsSchedule& schedule) {
  std::vector<Directive> directives{Unroll{"i", 1},
                                    Enumerate{},
                                    MergePatterns{},
                                    CutRows{"k", schedule.task},
                                    PackTasks{"A", schedule.light},
                                    AssignTasks{"task", schedule.warps, schedule.warp_groups()},
                                    TileColumns{"j", schedule.columns, schedule.vector},
                                    AccumulateSums{},
                                    ShuffleSums{},
                                    Vectorize{"j"},
                                    BatchColumns{"k", schedule.unroll},
                                    Prefetch{"A"}};
  if (schedule.pdl) {
    directives.emplace_back(Overlap{});
  }
  return directives;
}

}  // namespace esc
