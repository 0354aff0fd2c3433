// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/bitmap_schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "generator/schedule/element_types.h"
#include "generator/schedule/settings.h"

namespace esc {
namespace {

/// A lane of a warpgroup has half as many sums, beside the fragments of two K blocks and what it decodes with.
int most_warpgroup_columns(int threads) {
  constexpr int registers = 65536;
  constexpr int of_thread = 255;
  constexpr int beside_sums = 96;
  const int sums = std::min(registers / threads, of_thread) - beside_sums;
  return sums < BitmapSchedule::least_warpgroup_columns / 2
             ? 0
             : static_cast<int>(std::bit_floor(static_cast<unsigned>(2 * sums)));
}

/// What wgmma asks for: four warps with panels beside each other, and registers for all sums.
void check_warpgroups(const BitmapSchedule& schedule) {
  constexpr int warps = BitmapSchedule::warpgroup_warps;
  if (schedule.panels % warps != 0) {
    throw ScheduleError(
        print(schedule),
        fmt::format("panels={} is no multiple of the {} warps that multiply at once", schedule.panels, warps),
        fmt::format("the nearest legal value is panels={}", std::max(warps, schedule.panels / warps * warps)));
  }
  if (const int most = most_warpgroup_columns(schedule.threads()); schedule.columns > most) {
    throw ScheduleError(
        print(schedule),
        fmt::format("columns={} takes more registers than {} threads can have", schedule.columns, schedule.threads()),
        fmt::format("the nearest legal value is columns={}", most));
  }
}

}  // namespace

BitmapSchedule parse_bitmap(std::string_view text, std::string_view settings) {
  const BitmapSchedule preset;
  const Settings given(text, "bitmap", settings,
                       {"columns", "panels", "warps", "stages", "units", "step", "mma", "cluster", "pdl"});
  return {.columns = given.number("columns", preset.columns),
          .panels = given.number("panels", preset.panels),
          .warps = given.number("warps", preset.warps),
          .stages = given.number("stages", preset.stages),
          .units = given.number("units", preset.units),
          .step = given.number("step", preset.step),
          .mma = given.word("mma", "warp", {"warp", "warpgroup"}) == "warpgroup" ? BitmapSchedule::Mma::warpgroup
                                                                                 : BitmapSchedule::Mma::warp,
          .cluster = given.number("cluster", preset.cluster),
          .pdl = given.word("pdl", preset.pdl ? "on" : "off", {"on", "off"}) == "on"};
}

std::string print(const BitmapSchedule& schedule) {
  return fmt::format("bitmap:columns={},panels={},warps={},stages={},units={}{}{}{},pdl={}", schedule.columns,
                     schedule.panels, schedule.warps, schedule.stages, schedule.units,
                     schedule.step == BitmapSchedule::half_tile ? "" : fmt::format(",step={}", schedule.step),
                     schedule.has_warpgroups() ? ",mma=warpgroup" : "",
                     schedule.cluster == 1 ? "" : fmt::format(",cluster={}", schedule.cluster),
                     schedule.pdl ? "on" : "off");
}

void check_ranges(const BitmapSchedule& schedule) {
  const std::string text = print(schedule);
  const bool has_warpgroups = schedule.has_warpgroups();
  check_power_of_two(text, "columns", schedule.columns, has_warpgroups ? BitmapSchedule::least_warpgroup_columns : 8,
                     has_warpgroups ? BitmapSchedule::max_columns : BitmapSchedule::max_warp_columns);
  check_range(text, "panels", schedule.panels, 1, BitmapSchedule::max_warps, 1);
  check_range(text, "warps", schedule.warps, 1, BitmapSchedule::max_warps / schedule.panels, 1);
  check_range(text, "stages", schedule.stages, has_warpgroups ? 3 : 2, BitmapSchedule::max_stages, 1);
  check_range(text, "units", schedule.units, 2, BitmapSchedule::max_stages, 1);
  check_range(text, "cluster", schedule.cluster, 1, BitmapSchedule::max_cluster, 1);
  if (has_warpgroups) {
    check_warpgroups(schedule);
  }
  if (schedule.step != BitmapSchedule::half_tile &&
      (has_warpgroups || schedule.step != BitmapSchedule::tile_columns_of_a)) {
    throw ScheduleError(
        text, fmt::format("step={} is no K step of these warps", schedule.step),
        has_warpgroups ? "leave it out: warpgroups multiply 64 columns of A at a time" : "write step=128 or step=256");
  }
}

void check_legal(const BitmapSchedule& schedule, const ProductColumns& columns) {
  check_ranges(schedule);
  if (const int most = widest_bitmap_tile(columns.count); schedule.columns > most) {
    throw ScheduleError(print(schedule),
                        fmt::format("columns={} is more than bCol={} asks for", schedule.columns, columns.count),
                        fmt::format("the nearest legal value is columns={}", most));
  }
}

bool can_use_bitmap(std::string_view dtype) { return is_half_type(dtype); }

std::int64_t shared_bytes(const BitmapSchedule& schedule, std::int64_t unit_bytes) {
  constexpr std::int64_t element = 2;
  constexpr std::int64_t value = 4;
  const std::int64_t tiles =
      std::int64_t{schedule.warps} * schedule.stages * schedule.step_columns() * schedule.columns * element;
  const std::int64_t sums = std::int64_t{schedule.warps - 1 + schedule.cluster - 1} * schedule.panels *
                            BitmapSchedule::panel_rows * schedule.columns * value;
  return std::max(tiles, sums) + std::int64_t{schedule.panels} * schedule.warps * schedule.units * unit_bytes;
}

int widest_bitmap_tile(long long columns) {
  return static_cast<int>(
      std::bit_ceil(static_cast<std::uint64_t>(std::clamp<long long>(columns, 8, BitmapSchedule::max_columns))));
}

std::vector<BitmapSchedule> legal_bitmap_schedules(long long bcol) {
  std::vector<BitmapSchedule> schedules;
  const auto add = [&](const BitmapSchedule& schedule) {
    if (is_accepted([&] { check_ranges(schedule); })) {
      schedules.push_back(schedule);
    }
  };
  for (const BitmapSchedule::Mma mma : {BitmapSchedule::Mma::warp, BitmapSchedule::Mma::warpgroup}) {
    for (int columns = 8; columns <= widest_bitmap_tile(bcol); columns *= 2) {
      for (int panels = 1; panels <= BitmapSchedule::max_warps; ++panels) {
        for (int warps = 1; warps <= BitmapSchedule::max_warps / panels; ++warps) {
          for (int stages = 2; stages <= BitmapSchedule::max_stages; ++stages) {
            for (int units = 2; units <= BitmapSchedule::max_stages; ++units) {
              for (const int step : {BitmapSchedule::half_tile, BitmapSchedule::tile_columns_of_a}) {
                add({.columns = columns,
                     .panels = panels,
                     .warps = warps,
                     .stages = stages,
                     .units = units,
                     .step = step,
                     .mma = mma});
              }
            }
          }
        }
      }
    }
  }
  return schedules;
}

std::vector<Directive> expand(const BitmapSchedule& schedule) {
  std::vector<Directive> directives{StreamWindows{"i", schedule.panels, schedule.warps},
                                    FragmentColumns{"j", schedule.columns},
                                    PackBitmap{"A", schedule.has_warpgroups() ? BitmapSchedule::warpgroup_warps : 1},
                                    PipelineTiles{"k", schedule.stages, schedule.units, schedule.step}};
  if (schedule.cluster > 1) {
    directives.emplace_back(ClusterTurns{"k", schedule.cluster});
  }
  directives.emplace_back(StoreTiles{"C"});
  if (schedule.pdl) {
    directives.emplace_back(Overlap{});
  }
  return directives;
}

}  // namespace esc
