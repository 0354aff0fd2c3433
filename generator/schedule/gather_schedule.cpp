// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/gather_schedule.h"

#include <fmt/format.h>

#include <algorithm>

#include "generator/schedule/settings.h"

namespace esc {

namespace {

constexpr int tile_k = GatherSchedule::k_tile_columns;
constexpr int tile_n = GatherSchedule::columns;

std::string tile_text(long long rows) { return fmt::format("tile={}x{}x{}", rows, tile_k, tile_n); }

}  // namespace

GatherSchedule parse_gather(std::string_view text, std::string_view settings) {
  const GatherSchedule preset;
  const Settings given(text, schedule_family("gather"), settings);
  const int warps = given.number("warps", preset.warps);
  const bool pdl = given.flag("pdl", preset.pdl);
  if (given.is_old()) {
    return {.sets = given.number("sets", preset.sets), .warps = warps, .pdl = pdl};
  }
  const std::vector<int> tile = given.tile(
      "tile",
      {GatherSchedule::set_rows * preset.sets * std::clamp(warps, 1, GatherSchedule::max_warps), tile_k, tile_n});
  const SettingText with_rows = [&](long long) { return tile_text(tile[0]); };
  check_range(given.text(), "tile K", tile[1], tile_k, tile_k, 1, with_rows);
  check_range(given.text(), "tile N", tile[2], tile_n, tile_n, 1, with_rows);
  return {.sets = whole_parts(given.text(), "tile M", tile[0], "4 * warps", 1LL * GatherSchedule::set_rows * warps,
                              tile_text),
          .warps = warps,
          .pdl = pdl};
}

std::string print(const GatherSchedule& schedule) {
  return print_settings(schedule_family("gather"), [&](std::string_view key) {
    return key == "tile"    ? fmt::format("{}x{}x{}", 1LL * GatherSchedule::set_rows * schedule.sets * schedule.warps,
                                          tile_k, tile_n)
           : key == "warps" ? std::to_string(schedule.warps)
                            : on_or_off(schedule.pdl);
  });
}

void check_ranges(const GatherSchedule& schedule) {
  const ScheduleText text(schedule);
  check_range(text, "warps", schedule.warps, 1, GatherSchedule::max_warps, 1);
  check_range(text, "tile M / (4 * warps)", schedule.sets, 1, GatherSchedule::max_sets, 1,
              [&](long long sets) { return tile_text(sets * schedule.warps * GatherSchedule::set_rows); });
}

void check_legal(const GatherSchedule& schedule, const ProductColumns& columns) {
  check_ranges(schedule);
  if (!columns.are_contiguous) {
    throw ScheduleError(print(schedule),
                        "columns of B are not one after the other, so that no row of it has 128 bytes of 32",
                        "choose a schedule of family panel");
  }
}

std::uint64_t shared_bytes(const GatherSchedule& schedule, double k_tile_entries) {
  constexpr double filled_up = 2;  // entries of a row in the fullest list
  constexpr int entry_bytes = 8, row_bytes = 128, fixed_bytes = 128;
  const double list_bytes = schedule.block_rows() * (k_tile_entries + filled_up) * entry_bytes +
                            2 * schedule.rows() * entry_bytes + fixed_bytes;
  return static_cast<std::uint64_t>(GatherSchedule::stages * GatherSchedule::k_tile_columns * row_bytes + fixed_bytes +
                                    GatherSchedule::list_stages * list_bytes);
}

bool can_gather(std::string_view dtype, std::string_view layout) {
  return (dtype == "f32" || dtype == "tf32") && layout == "kn";
}

std::vector<GatherSchedule> legal_gather_schedules(long long bcol) {
  std::vector<GatherSchedule> schedules;
  for (int warps = 1; warps <= GatherSchedule::max_warps; ++warps) {
    for (int sets = 1; sets <= GatherSchedule::max_sets; ++sets) {
      const GatherSchedule schedule{.sets = sets, .warps = warps};
      if (is_accepted([&] { check_legal(schedule, bcol); })) {
        schedules.push_back(schedule);
      }
    }
  }
  return schedules;
}

std::vector<Directive> expand(const GatherSchedule& schedule) {
  std::vector<Directive> directives{
      Unroll{"i", schedule.sets},
      Enumerate{},
      MergePatterns{},
      AssignRowTiles{"i", schedule.warps * GatherSchedule::set_rows, GatherSchedule::set_rows},
      TileColumns{"j", GatherSchedule::columns, GatherSchedule::vector},
      SplitColumns{"k", 1, 1},
      AccumulateSums{},
      PackGathered{"A"},
      PipelineKTiles{"k", GatherSchedule::stages}};
  if (schedule.pdl) {
    directives.emplace_back(Overlap{});
  }
  return directives;
}

}  // namespace esc
