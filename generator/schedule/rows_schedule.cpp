// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/rows_schedule.h"

#include <fmt/format.h>

#include <algorithm>

#include "generator/schedule/settings.h"
#include "generator/schedule/tile_rules.h"

namespace esc {

namespace {

LaneTile lane_tile(const RowsSchedule& schedule) {
  return {.block_rows = 1, .rows = 1, .columns = schedule.columns, .vector = schedule.vector};
}

}  // namespace

RowsSchedule parse_rows(std::string_view text, std::string_view settings) {
  const RowsSchedule preset;
  const Settings given(text, schedule_family("rows"), settings);
  RowsSchedule schedule{.task = given.number("task", preset.task),
                        .light = given.number("light", preset.light),
                        .warps = given.number("warps", preset.warps),
                        .pdl = given.flag("pdl", preset.pdl)};
  if (given.is_old()) {
    schedule.columns = given.number("columns", preset.columns);
    schedule.vector = given.number("vector", preset.vector);
    schedule.unroll = given.number("unroll", preset.unroll);
    return schedule;
  }
  const std::vector<int> tile = given.tile("tile", {1, preset.columns});
  const std::vector<int> thread = given.tile("thread", {1, preset.vector});
  check_range(given.text(), "tile M", tile[0], 1, 1, 1,
              [&](long long rows) { return fmt::format("tile={}x{}", rows, tile[1]); });
  check_range(given.text(), "thread M", thread[0], 1, 1, 1,
              [&](long long rows) { return fmt::format("thread={}x{}", rows, thread[1]); });
  schedule.columns = tile[1];
  schedule.vector = thread[1];
  schedule.unroll = given.number("unroll_k", preset.unroll);
  return schedule;
}

std::string print(const RowsSchedule& schedule) {
  return print_settings(schedule_family("rows"), [&](std::string_view key) {
    return key == "tile"       ? fmt::format("1x{}", schedule.columns)
           : key == "thread"   ? fmt::format("1x{}", schedule.vector)
           : key == "unroll_k" ? std::to_string(schedule.unroll)
           : key == "task"     ? std::to_string(schedule.task)
           : key == "light"    ? std::to_string(schedule.light)
           : key == "warps"    ? std::to_string(schedule.warps)
                               : on_or_off(schedule.pdl);
  });
}

void check_ranges(const RowsSchedule& schedule) {
  const ScheduleText text(schedule);
  const LaneTile tile = lane_tile(schedule);
  check_power_of_two(text, "tile N", schedule.columns, 1, RowsSchedule::max_columns,
                     [&](long long columns) { return tile.tile_with(columns); });
  check_vector(text, tile, false);
  check_power_of_two(text, "unroll_k", schedule.unroll, 1, RowsSchedule::max_unroll);
  check_power_of_two(text, "task", schedule.task, 1, RowsSchedule::max_task);
  check_power_of_two(text, "light", schedule.light, 1, RowsSchedule::max_task);
  check_power_of_two(text, "warps", schedule.warps, 1, RowsSchedule::max_warps);
  check_group(text, tile);
  if (const int most = RowsSchedule::max_parts; schedule.unroll * schedule.vector > most) {
    throw ScheduleError(
        text.str(),
        fmt::format("unroll_k * thread N = {} elements of B at a time are more than {}, what a lane has registers for",
                    schedule.unroll * schedule.vector, most),
        fmt::format("the nearest legal value is unroll_k={}", most / schedule.vector));
  }
  if (schedule.light > schedule.task) {
    throw ScheduleError(text.str(), fmt::format("light={} is more than task={}", schedule.light, schedule.task),
                        fmt::format("the nearest legal value is light={}", schedule.task));
  }
}

void check_legal(const RowsSchedule& schedule, const ProductColumns& columns) {
  check_vector(print(schedule), lane_tile(schedule), columns.are_contiguous);
  check_ranges(schedule);
  check_tile(print(schedule), lane_tile(schedule), columns);
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
