// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/atomic_schedule.h"

#include <fmt/format.h>

#include <algorithm>

#include "generator/schedule/settings.h"

namespace esc {
namespace {

/// The greatest multiple of 32 that a block or a warp may cover for this bCol.
long long widest(long long bcol) { return std::max(32LL, bcol / 32 * 32); }

}  // namespace

AtomicSchedule parse_short_atomic(std::string_view text) {
  const auto parts = split(text, '-');
  if (parts.size() != 4) {
    throw ScheduleError(text.empty() ? "the empty text" : std::string(text), "is not a schedule",
                        "write UFi-UFk-WarpTile-ThreadBlockSize as in 4-7-1-32, or FAMILY:key=value,... as in "
                        "panel:ufi=2,warps=8");
  }
  return {.ufi = parse_setting(text, "ufi", parts[0]),
          .ufk = parse_setting(text, "ufk", parts[1]),
          .warptile = parse_setting(text, "warptile", parts[2]),
          .threads = parse_setting(text, "threads", parts[3])};
}

AtomicSchedule parse_atomic(std::string_view text, std::string_view settings) {
  const AtomicSchedule preset;
  const Settings given(text, "atomic", settings, {"ufi", "ufk", "warptile", "threads", "compaction"});
  return {.ufi = given.number("ufi", preset.ufi),
          .ufk = given.number("ufk", preset.ufk),
          .warptile = given.number("warptile", preset.warptile),
          .threads = given.number("threads", preset.threads),
          .compaction = given.word("compaction", "on", {"on", "off"}) == "on"};
}

std::string print(const AtomicSchedule& schedule) {
  return fmt::format("atomic:ufi={},ufk={},warptile={},threads={}{}", schedule.ufi, schedule.ufk, schedule.warptile,
                     schedule.threads, schedule.compaction ? "" : ",compaction=off");
}

void check_ranges(const AtomicSchedule& schedule) {
  const std::string text = print(schedule);
  check_range(text, "ufi", schedule.ufi, 1, AtomicSchedule::max_ufi, 1);
  check_range(text, "ufk", schedule.ufk, 1, AtomicSchedule::max_ufk, 1);
  check_range(text, "warptile", schedule.warptile, 1, AtomicSchedule::max_warptile, 1);
  check_range(text, "threads", schedule.threads, 32, AtomicSchedule::max_threads, 32);
}

void check_legal(const AtomicSchedule& schedule, const ProductColumns& columns) {
  check_ranges(schedule);
  const long long bcol = columns.count;
  if (schedule.threads > widest(bcol)) {
    throw ScheduleError(print(schedule),
                        fmt::format("threads={} is more than max(32, bCol={})", schedule.threads, bcol),
                        fmt::format("the nearest legal value is threads={}", widest(bcol)));
  }
  if (32LL * schedule.warptile > widest(bcol)) {
    throw ScheduleError(print(schedule),
                        fmt::format("32 * warptile = {} is more than max(32, bCol={})", 32 * schedule.warptile, bcol),
                        fmt::format("the nearest legal value is warptile={}", widest(bcol) / 32));
  }
}

std::vector<AtomicSchedule> legal_atomic_schedules(long long bcol) {
  std::vector<AtomicSchedule> schedules;
  for (int ufi = 1; ufi <= AtomicSchedule::max_ufi; ++ufi) {
    for (int ufk = 1; ufk <= AtomicSchedule::max_ufk; ++ufk) {
      for (int warptile = 1; warptile <= AtomicSchedule::max_warptile && 32 * warptile <= widest(bcol); ++warptile) {
        for (int threads = 32; threads <= std::min<long long>(AtomicSchedule::max_threads, widest(bcol));
             threads += 32) {
          schedules.push_back({.ufi = ufi, .ufk = ufk, .warptile = warptile, .threads = threads});
        }
      }
    }
  }
  return schedules;
}

std::vector<Directive> expand(const AtomicSchedule& schedule) {
  std::vector<Directive> directives{
      Unroll{"i", schedule.ufi},  Enumerate{},   MapGrid{"i"}, MapLanes{"j", 32 * schedule.warptile, schedule.threads},
      Coarsen{"k", schedule.ufk}, Transform{"A"}};
  if (schedule.compaction) {
    directives.emplace_back(Compact{});
  }
  return directives;
}

}  // namespace esc
