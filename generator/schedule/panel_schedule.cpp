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

void check_block(const PanelSchedule& schedule) {
  const std::string text = print(schedule);
  check_group(text, schedule.columns, schedule.vector);
  if (schedule.groups > schedule.warp_groups()) {
    throw ScheduleError(
        text,
        fmt::format("groups={} is more than the {} lane groups of a warp", schedule.groups, schedule.warp_groups()),
        fmt::format("the nearest legal value is groups={}", schedule.warp_groups()));
  }
  if (schedule.panels < schedule.warp_panels()) {
    throw ScheduleError(
        text, fmt::format("panels={} is less than the {} panels of a warp", schedule.panels, schedule.warp_panels()),
        fmt::format("the nearest legal value is panels={}", schedule.warp_panels()));
  }
  if (schedule.block_warps() > PanelSchedule::max_warps) {
    throw ScheduleError(
        text, fmt::format("a block of {} warps is more than {}", schedule.block_warps(), PanelSchedule::max_warps),
        fmt::format("the nearest legal value is panels={}",
                    PanelSchedule::max_warps / schedule.warps * schedule.warp_panels()));
  }
  if (const int most = most_values(schedule.stage); schedule.ufi * schedule.ufk > most) {
    throw ScheduleError(
        text,
        fmt::format("ufi * ufk = {} values of A at a time are more than {}, what a lane has registers for",
                    schedule.ufi * schedule.ufk, most),
        schedule.ufi * 4 <= most ? fmt::format("the nearest legal value is ufk={}", most / schedule.ufi)
                                 : fmt::format("the nearest legal value is ufi={}, or choose stage=on", most / 4));
  }
  if (const int most = PanelSchedule::max_lane_sums; schedule.ufi * schedule.vector > most) {
    throw ScheduleError(text,
                        fmt::format("ufi * vector = {} sums of a lane are more than {}, what it has registers for",
                                    schedule.ufi * schedule.vector, most),
                        fmt::format("the nearest legal value is vector={}", most / schedule.ufi));
  }
  if (schedule.sum_bytes() > most_sum_bytes) {
    throw ScheduleError(text,
                        fmt::format("the sums of the warps take {} bytes of shared memory, more than {}",
                                    schedule.sum_bytes(), most_sum_bytes),
                        "choose fewer warps, panels or columns, or a smaller ufi");
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
  const Settings given(text, "panel", settings,
                       {"ufi", "columns", "vector", "groups", "warps", "panels", "ufk", "stage", "pdl"});
  return {.ufi = given.number("ufi", preset.ufi),
          .columns = given.number("columns", preset.columns),
          .vector = given.number("vector", preset.vector),
          .groups = given.number("groups", preset.groups),
          .warps = given.number("warps", preset.warps),
          .panels = given.number("panels", preset.panels),
          .ufk = given.number("ufk", preset.ufk),
          .stage = given.word("stage", preset.stage ? "on" : "off", {"on", "off"}) == "on",
          .pdl = given.word("pdl", preset.pdl ? "on" : "off", {"on", "off"}) == "on"};
}

std::string print(const PanelSchedule& schedule) {
  return fmt::format("panel:ufi={},columns={},vector={},groups={},warps={},panels={},ufk={},stage={},pdl={}",
                     schedule.ufi, schedule.columns, schedule.vector, schedule.groups, schedule.warps, schedule.panels,
                     schedule.ufk, schedule.stage ? "on" : "off", schedule.pdl ? "on" : "off");
}

void check_ranges(const PanelSchedule& schedule) {
  const std::string text = print(schedule);
  check_power_of_two(text, "ufi", schedule.ufi, 1, PanelSchedule::max_ufi);
  check_power_of_two(text, "columns", schedule.columns, 1, PanelSchedule::max_columns);
  check_vector(text, schedule.vector, false);
  check_power_of_two(text, "groups", schedule.groups, 1, 32);
  check_power_of_two(text, "warps", schedule.warps, 1, PanelSchedule::max_warps);
  check_power_of_two(text, "panels", schedule.panels, 1, PanelSchedule::max_panels);
  check_power_of_two(text, "ufk", schedule.ufk, 4, PanelSchedule::max_ufk);
  check_block(schedule);
}

void check_legal(const PanelSchedule& schedule, const ProductColumns& columns) {
  check_vector(print(schedule), schedule.vector, columns.are_contiguous);
  check_ranges(schedule);
  check_tile(print(schedule), schedule.columns, schedule.vector, columns);
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
            for (int panels = 1; panels <= PanelSchedule::max_panels; panels *= 2) {
              for (int ufk = 4; ufk <= PanelSchedule::max_ufk; ufk *= 2) {
                for (const bool stage : {false, true}) {
                  add({ufi, columns, vector, groups, warps, panels, ufk, stage, true});
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
                                    OwnPanels{"i", schedule.panels, schedule.warp_panels()},
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
