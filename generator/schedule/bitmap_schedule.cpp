// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/bitmap_schedule.h"

#include <fmt/format.h>

#include <algorithm>

#include "generator/schedule/element_types.h"
#include "generator/schedule/settings.h"
#include "generator/schedule/stream_schedule.h"

namespace esc {
BitmapSchedule parse_bitmap(std::string_view text, std::string_view settings) {
  const BitmapSchedule preset;
  const Settings given(text, "bitmap", settings, {"columns", "panels", "warps", "stages", "units", "pdl"});
  return {.columns = given.number("columns", preset.columns),
          .panels = given.number("panels", preset.panels),
          .warps = given.number("warps", preset.warps),
          .stages = given.number("stages", preset.stages),
          .units = given.number("units", preset.units),
          .pdl = given.word("pdl", preset.pdl ? "on" : "off", {"on", "off"}) == "on"};
}

std::string print(const BitmapSchedule& schedule) {
  return fmt::format("bitmap:columns={},panels={},warps={},stages={},units={},pdl={}", schedule.columns, schedule.panels,
                     schedule.warps, schedule.stages, schedule.units, schedule.pdl ? "on" : "off");
}

void check_ranges(const BitmapSchedule& schedule) {
  const std::string text = print(schedule);
  check_power_of_two(text, "columns", schedule.columns, 8, BitmapSchedule::max_columns);
  check_range(text, "panels", schedule.panels, 1, BitmapSchedule::max_warps, 1);
  check_range(text, "warps", schedule.warps, 1, BitmapSchedule::max_warps / schedule.panels, 1);
  check_range(text, "stages", schedule.stages, 2, BitmapSchedule::max_stages, 1);
  check_range(text, "units", schedule.units, 2, BitmapSchedule::max_stages, 1);
}

void check_legal(const BitmapSchedule& schedule, const ProductColumns& columns) {
  check_ranges(schedule);
  if (const int most = widest_stream(columns.count); schedule.columns > most) {
    throw ScheduleError(print(schedule), fmt::format("columns={} is more than bCol={} asks for", schedule.columns, columns.count),
                        fmt::format("the nearest legal value is columns={}", most));
  }
}

bool can_use_bitmap(std::string_view dtype) { return is_half_type(dtype); }

std::int64_t shared_bytes(const BitmapSchedule& schedule, std::int64_t unit_bytes) {
  constexpr std::int64_t element = 2;
  constexpr std::int64_t value = 4;
  const std::int64_t tiles = std::int64_t{schedule.warps} * schedule.stages * BitmapSchedule::step_columns * schedule.columns * element;
  const std::int64_t sums = std::int64_t{schedule.warps - 1} * schedule.panels * BitmapSchedule::panel_rows * schedule.columns * value;
  return std::max(tiles, sums) + std::int64_t{schedule.panels} * schedule.warps * schedule.units * unit_bytes;
}

std::vector<BitmapSchedule> legal_bitmap_schedules(long long bcol) {
  std::vector<BitmapSchedule> schedules;
  for (int columns = 8; columns <= widest_stream(bcol); columns *= 2) {
    for (int panels = 1; panels <= BitmapSchedule::max_warps; ++panels) {
      for (int warps = 1; warps <= BitmapSchedule::max_warps / panels; ++warps) {
        for (int stages = 2; stages <= BitmapSchedule::max_stages; ++stages) {
          for (int units = 2; units <= BitmapSchedule::max_stages; ++units) {
            schedules.push_back({.columns = columns, .panels = panels, .warps = warps, .stages = stages, .units = units});
          }
        }
      }
    }
  }
  return schedules;
}

std::vector<Directive> expand(const BitmapSchedule& schedule) {
  std::vector<Directive> directives{StreamWindows{"i", schedule.panels, schedule.warps}, FragmentColumns{"j", schedule.columns},
                                    PackBitmap{"A"}, PipelineTiles{"k", schedule.stages, schedule.units}};
  if (schedule.pdl) {
    directives.emplace_back(Overlap{});
  }
  return directives;
}

}  // namespace esc
