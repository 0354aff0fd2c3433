// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/atomic_schedule.h"

#include <fmt/format.h>

#include <algorithm>

#include "generator/schedule/settings.h"

namespace esc {
namespace {

std::string thread_text(long long rows, long long columns) { return fmt::format("thread={}x{}", rows, columns); }

/// The greatest multiple of 32 that a block or a warp may cover for this bCol.
long long widest(long long bcol) { return std::max(32LL, bcol / 32 * 32); }

}  // namespace

AtomicSchedule parse_short_atomic(std::string_view text) {
  const auto parts = split(text, '-');
  if (parts.size() != 4) {
    throw ScheduleError(text.empty() ? "the empty text" : std::string(text), "is not a schedule",
                        "write UFi-UFk-WarpTile-ThreadBlockSize as in 4-7-1-32, or 'FAMILY: key=value, ...' as in "
                        "'panel: tile=2x32, thread=2x4, split_k=8'");
  }
  return {.ufi = parse_setting(text, "thread M", parts[0]),
          .ufk = parse_setting(text, "unroll_k", parts[1]),
          .warptile = parse_setting(text, "thread N", parts[2]),
          .threads = parse_setting(text, "threads", parts[3])};
}

AtomicSchedule parse_atomic(std::string_view text, std::string_view settings) {
  const AtomicSchedule preset;
  const Settings given(text, schedule_family("atomic"), settings);
  const int threads = given.number("threads", preset.threads);
  const bool compaction = given.flag("compaction", preset.compaction);
  if (given.is_old()) {
    return {.ufi = given.number("ufi", preset.ufi),
            .ufk = given.number("ufk", preset.ufk),
            .warptile = given.number("warptile", preset.warptile),
            .threads = threads,
            .compaction = compaction};
  }
  const std::vector<int> thread = given.tile("thread", {preset.ufi, preset.warptile});
  return {.ufi = thread[0],
          .ufk = given.number("unroll_k", preset.ufk),
          .warptile = thread[1],
          .threads = threads,
          .compaction = compaction};
}

std::string print(const AtomicSchedule& schedule) {
  return print_settings(schedule_family("atomic"), [&](std::string_view key) {
    return key == "thread"       ? fmt::format("{}x{}", schedule.ufi, schedule.warptile)
           : key == "unroll_k"   ? std::to_string(schedule.ufk)
           : key == "threads"    ? std::to_string(schedule.threads)
           : schedule.compaction ? ""
                                 : "off";
  });
}

void check_ranges(const AtomicSchedule& schedule) {
  const ScheduleText text(schedule);
  check_range(text, "thread M", schedule.ufi, 1, AtomicSchedule::max_ufi, 1,
              [&](long long rows) { return thread_text(rows, schedule.warptile); });
  check_range(text, "unroll_k", schedule.ufk, 1, AtomicSchedule::max_ufk, 1);
  check_range(text, "thread N", schedule.warptile, 1, AtomicSchedule::max_warptile, 1,
              [&](long long columns) { return thread_text(schedule.ufi, columns); });
  check_range(text, "threads", schedule.threads, 32, AtomicSchedule::max_threads, 32);
}

void check_legal(const AtomicSchedule& schedule, const ProductColumns& columns) {
  check_ranges(schedule);
  const long long bcol = columns.count;
  if (schedule.threads > widest(bcol)) {
    throw ScheduleError(print(schedule), fmt::format("threads={} is more than max(32, N={})", schedule.threads, bcol),
                        fmt::format("the nearest legal value is threads={}", widest(bcol)));
  }
  if (32LL * schedule.warptile > widest(bcol)) {
    throw ScheduleError(print(schedule),
                        fmt::format("32 * thread N = {} is more than max(32, N={})", 32 * schedule.warptile, bcol),
                        "the nearest legal value is " + thread_text(schedule.ufi, widest(bcol) / 32));
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
