// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/panel_schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "generator/schedule/settings.h"
#include "generator/schedule/tile_rules.h"

namespace esc {
namespace {

/// Shared memory that a block has without asking for more; what the sums of the warps may take.
constexpr int most_sum_bytes = 48 * 1024;

/// Values of A that a lane multiplies at a time. Without staging as many more are on their way, in registers.
int most_values(bool stage) { return stage ? 32 : 16; }

LaneTile lane_tile(const PanelSchedule& schedule) {
  return {.block_rows = 1LL * schedule.row_tiles * schedule.ufi,
          .rows = schedule.ufi,
          .columns = schedule.columns,
          .vector = schedule.vector};
}

/// "the nearest legal value is tile=8x32", with so many row tiles.
std::string nearest_panels(const PanelSchedule& schedule, long long row_tiles) {
  return fmt::format("the nearest legal value is tile={}x{}", row_tiles * schedule.ufi, schedule.columns);
}

void check_block(const PanelSchedule& schedule) {
  const ScheduleText text(schedule);
  check_group(text, lane_tile(schedule));
  if (schedule.groups > schedule.warp_groups()) {
    throw ScheduleError(
        text.str(),
        fmt::format("lane_groups={} is more than the {} of a warp", schedule.groups, schedule.warp_groups()),
        fmt::format("the nearest legal value is lane_groups={}", schedule.warp_groups()));
  }
  if (schedule.row_tiles < schedule.warp_row_tiles()) {
    throw ScheduleError(text.str(),
                        fmt::format("tile M={} is less than the {} rows of a warp", schedule.row_tiles * schedule.ufi,
                                    schedule.warp_row_tiles() * schedule.ufi),
                        nearest_panels(schedule, schedule.warp_row_tiles()));
  }
  if (schedule.block_warps() > PanelSchedule::max_warps) {
    throw ScheduleError(
        text.str(),
        fmt::format("a block of {} warps is more than {}", schedule.block_warps(), PanelSchedule::max_warps),
        nearest_panels(schedule, PanelSchedule::max_warps / schedule.warps * schedule.warp_row_tiles()));
  }
  if (const int most = most_values(schedule.stage); schedule.ufi * schedule.ufk > most) {
    throw ScheduleError(
        text.str(),
        fmt::format("thread M * unroll_k = {} values of A at a time are more than {}, what a lane has registers for",
                    schedule.ufi * schedule.ufk, most),
        schedule.ufi * 4 <= most
            ? fmt::format("the nearest legal value is unroll_k={}", most / schedule.ufi)
            : fmt::format("the nearest legal value is thread={}x{}, or choose stage_a=on", most / 4, schedule.vector));
  }
  if (const int most = PanelSchedule::max_lane_sums; schedule.ufi * schedule.vector > most) {
    throw ScheduleError(text.str(),
                        fmt::format("thread = {} sums of a lane are more than {}, what it has registers for",
                                    schedule.ufi * schedule.vector, most),
                        "the nearest legal value is " + lane_tile(schedule).thread_with(most / schedule.ufi));
  }
  if (schedule.sum_bytes() > most_sum_bytes) {
    throw ScheduleError(text.str(),
                        fmt::format("the sums of the warps take {} bytes of shared memory, more than {}",
                                    schedule.sum_bytes(), most_sum_bytes),
                        "choose a smaller split_k or tile");
  }
}

}  // namespace

int widest_tile(const ProductColumns& columns) {
  const auto wanted = static_cast<unsigned long long>(std::clamp(columns.count, 1LL, 1LL * PanelSchedule::max_columns));
  return static_cast<int>(std::bit_ceil(wanted));
}

int widest_vector(const ProductColumns& columns) {
  return !columns.are_contiguous  ? PanelSchedule::max_spread_vector
         : columns.count % 4 == 0 ? 4
         : columns.count % 2 == 0 ? 2
                                  : 1;
}

PanelSchedule parse_panel(std::string_view text, std::string_view settings) {
  const PanelSchedule preset;
  const Settings given(text, schedule_family("panel"), settings);
  const bool pdl = given.flag("pdl", preset.pdl);
  if (given.is_old()) {
    return {.ufi = given.number("ufi", preset.ufi),
            .columns = given.number("columns", preset.columns),
            .vector = given.number("vector", preset.vector),
            .groups = given.number("groups", preset.groups),
            .warps = given.number("warps", preset.warps),
            .row_tiles = given.number("panels", preset.row_tiles),
            .ufk = given.number("ufk", preset.ufk),
            .stage = given.flag("stage", preset.stage),
            .pdl = pdl};
  }
  const std::vector<int> thread = given.tile("thread", {preset.ufi, preset.vector});
  const std::vector<int> tile = given.tile("tile", {preset.row_tiles * thread[0], preset.columns});
  return {.ufi = thread[0],
          .columns = tile[1],
          .vector = thread[1],
          .groups = given.number("lane_groups", preset.groups),
          .warps = given.number("split_k", preset.warps),
          .row_tiles = whole_parts(given.text(), "tile M", tile[0], "thread M", thread[0],
                                   [&](long long rows) { return fmt::format("tile={}x{}", rows, tile[1]); }),
          .ufk = given.number("unroll_k", preset.ufk),
          .stage = given.flag("stage_a", preset.stage),
          .pdl = pdl};
}

std::string print(const PanelSchedule& schedule) {
  return print_settings(schedule_family("panel"), [&](std::string_view key) {
    return key == "tile"          ? fmt::format("{}x{}", 1LL * schedule.row_tiles * schedule.ufi, schedule.columns)
           : key == "thread"      ? fmt::format("{}x{}", schedule.ufi, schedule.vector)
           : key == "split_k"     ? std::to_string(schedule.warps)
           : key == "lane_groups" ? std::to_string(schedule.groups)
           : key == "unroll_k"    ? std::to_string(schedule.ufk)
           : key == "stage_a"     ? on_or_off(schedule.stage)
                                  : on_or_off(schedule.pdl);
  });
}

void check_ranges(const PanelSchedule& schedule) {
  const ScheduleText text(schedule);
  const LaneTile tile = lane_tile(schedule);
  check_power_of_two(text, "thread M", schedule.ufi, 1, PanelSchedule::max_ufi,
                     [&](long long rows) { return fmt::format("thread={}x{}", rows, schedule.vector); });
  check_power_of_two(text, "tile N", schedule.columns, 1, PanelSchedule::max_columns,
                     [&](long long columns) { return tile.tile_with(columns); });
  check_vector(text, tile, false);
  check_power_of_two(text, "lane_groups", schedule.groups, 1, 32);
  check_power_of_two(text, "split_k", schedule.warps, 1, PanelSchedule::max_warps);
  check_power_of_two(
      text, "tile M / thread M", schedule.row_tiles, 1, PanelSchedule::max_row_tiles,
      [&](long long row_tiles) { return fmt::format("tile={}x{}", row_tiles * schedule.ufi, schedule.columns); });
  check_power_of_two(text, "unroll_k", schedule.ufk, 4, PanelSchedule::max_ufk);
  check_block(schedule);
}

void check_legal(const PanelSchedule& schedule, const ProductColumns& columns) {
  check_vector(print(schedule), lane_tile(schedule), columns.are_contiguous);
  check_ranges(schedule);
  check_tile(print(schedule), lane_tile(schedule), columns);
}

std::vector<PanelSchedule> legal_panel_schedules(long long bcol) {
  std::vector<PanelSchedule> schedules;
  const auto add = [&](const PanelSchedule& schedule) {
    if (is_accepted([&] { check_legal(schedule, bcol); })) {
      schedules.push_back(schedule);
    }
  };
  for (int ufi = 1; ufi <= PanelSchedule::max_ufi; ufi *= 2) {
    for (int columns = 1; columns <= widest_tile(bcol); columns *= 2) {
      for (int vector = 1; vector <= std::min(columns, widest_vector(bcol)); vector *= 2) {
        for (int groups = 1; groups <= 32 && groups * columns / vector <= 32; groups *= 2) {
          for (int warps = 1; warps <= PanelSchedule::max_warps; warps *= 2) {
            for (int row_tiles = 1; row_tiles <= PanelSchedule::max_row_tiles; row_tiles *= 2) {
              for (int ufk = 4; ufk <= PanelSchedule::max_ufk; ufk *= 2) {
                for (const bool stage : {false, true}) {
                  add({ufi, columns, vector, groups, warps, row_tiles, ufk, stage, true});
                }
              }
            }
          }
        }
      }
    }
  }
  return schedules;
}

std::vector<Directive> expand(const PanelSchedule& schedule) {
  std::vector<Directive> directives{Unroll{"i", schedule.ufi},
                                    Enumerate{},
                                    MergePatterns{},
                                    AssignRowTiles{"i", schedule.row_tiles, schedule.warp_row_tiles()},
                                    TileColumns{"j", schedule.columns, schedule.vector},
                                    SplitColumns{"k", schedule.warps, schedule.groups},
                                    AccumulateSums{},
                                    ShuffleSums{}};
  if (schedule.warps > 1) {
    directives.emplace_back(ShareSums{});
  }
  directives.insert(directives.end(), {PackRegions{"A"}, Vectorize{"j"}, BatchColumns{"k", schedule.ufk}});
  directives.push_back(schedule.stage ? Directive(StageRegions{"A"}) : Directive(Prefetch{"A"}));
  if (schedule.pdl) {
    directives.emplace_back(Overlap{});
  }
  return directives;
}

}  // namespace esc
