#include "generator/schedule/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

namespace esc {
namespace {

constexpr const char* grammar = "write UFi-UFk-WarpTile-ThreadBlockSize as in 4-7-1-32, or atomic:ufi=4,ufk=7,warptile=1,threads=32";

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const auto end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) {
      return parts;
    }
    text.remove_prefix(end + 1);
  }
}

int parse_number(std::string_view schedule, std::string_view key, std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw ScheduleError(std::string(schedule), fmt::format("'{}' is not a number for {}", text, key), grammar);
  }
  return value;
}

void check_range(const std::string& schedule, std::string_view key, int value, int least, int most, int multiple) {
  if (value >= least && value <= most && value % multiple == 0) {
    return;
  }
  const int rounded = (std::clamp(value, least, most) + multiple / 2) / multiple * multiple;
  const int nearest = std::clamp(rounded, least, most);
  const std::string rule = multiple == 1 ? fmt::format("{}={} is outside {} to {}", key, value, least, most)
                                         : fmt::format("{}={} is not a multiple of {} from {} to {}", key, value,
                                                       multiple, least, most);
  throw ScheduleError(schedule, rule, fmt::format("the nearest legal value is {}={}", key, nearest));
}

void check_ranges(const AtomicSchedule& schedule) {
  const std::string text = print(Schedule(schedule));
  check_range(text, "ufi", schedule.ufi, 1, AtomicSchedule::max_ufi, 1);
  check_range(text, "ufk", schedule.ufk, 1, AtomicSchedule::max_ufk, 1);
  check_range(text, "warptile", schedule.warptile, 1, AtomicSchedule::max_warptile, 1);
  check_range(text, "threads", schedule.threads, 32, AtomicSchedule::max_threads, 32);
}

AtomicSchedule parse_short(std::string_view text) {
  const auto parts = split(text, '-');
  if (parts.size() != 4) {
    throw ScheduleError(std::string(text), "is not a schedule", grammar);
  }
  return {.ufi = parse_number(text, "ufi", parts[0]),
          .ufk = parse_number(text, "ufk", parts[1]),
          .warptile = parse_number(text, "warptile", parts[2]),
          .threads = parse_number(text, "threads", parts[3])};
}

AtomicSchedule parse_keys(std::string_view text, std::string_view settings) {
  AtomicSchedule schedule;
  std::set<std::string_view> seen;
  for (const std::string_view setting : split(settings, ',')) {
    const auto equals = setting.find('=');
    const std::string_view key = setting.substr(0, equals);
    const std::string_view value = equals == std::string_view::npos ? "" : setting.substr(equals + 1);
    if (!seen.insert(key).second) {
      throw ScheduleError(std::string(text), fmt::format("key '{}' is given twice", key), "give it once");
    }
    if (key == "ufi") {
      schedule.ufi = parse_number(text, key, value);
    } else if (key == "ufk") {
      schedule.ufk = parse_number(text, key, value);
    } else if (key == "warptile") {
      schedule.warptile = parse_number(text, key, value);
    } else if (key == "threads") {
      schedule.threads = parse_number(text, key, value);
    } else if (key == "compaction") {
      if (value != "on" && value != "off") {
        throw ScheduleError(std::string(text), fmt::format("compaction={} is neither on nor off", value),
                            "write compaction=on or compaction=off");
      }
      schedule.compaction = value == "on";
    } else {
      throw ScheduleError(std::string(text), fmt::format("family atomic has no key '{}'", key),
                          "its keys are ufi, ufk, warptile, threads, compaction");
    }
  }
  return schedule;
}

/// The greatest multiple of 32 that a block or a warp may cover for this bCol.
long long widest(long long bcol) { return std::max(32LL, bcol / 32 * 32); }

}  // namespace

Schedule parse_schedule(std::string_view text) {
  const auto colon = text.find(':');
  const std::string_view family = text.substr(0, colon);
  if (colon != std::string_view::npos && family != "atomic") {
    throw ScheduleError(std::string(text), fmt::format("there is no family '{}'", family), "the families are: atomic");
  }
  const AtomicSchedule schedule =
      colon == std::string_view::npos ? parse_short(text) : parse_keys(text, text.substr(colon + 1));
  check_ranges(schedule);
  return schedule;
}

std::string print(const Schedule& schedule) {
  const auto& atomic = std::get<AtomicSchedule>(schedule);
  return fmt::format("atomic:ufi={},ufk={},warptile={},threads={}{}", atomic.ufi, atomic.ufk, atomic.warptile,
                     atomic.threads, atomic.compaction ? "" : ",compaction=off");
}

void check_legal(const Schedule& schedule, long long bcol) {
  const auto& atomic = std::get<AtomicSchedule>(schedule);
  check_ranges(atomic);
  if (atomic.threads > widest(bcol)) {
    throw ScheduleError(print(schedule), fmt::format("threads={} is more than max(32, bCol={})", atomic.threads, bcol),
                        fmt::format("the nearest legal value is threads={}", widest(bcol)));
  }
  if (32LL * atomic.warptile > widest(bcol)) {
    throw ScheduleError(
        print(schedule),
        fmt::format("32 * warptile = {} is more than max(32, bCol={})", 32 * atomic.warptile, bcol),
        fmt::format("the nearest legal value is warptile={}", widest(bcol) / 32));
  }
}

std::vector<AtomicSchedule> legal_atomic_schedules(long long bcol) {
  std::vector<AtomicSchedule> schedules;
  for (int ufi = 1; ufi <= AtomicSchedule::max_ufi; ++ufi) {
    for (int ufk = 1; ufk <= AtomicSchedule::max_ufk; ++ufk) {
      for (int warptile = 1; warptile <= AtomicSchedule::max_warptile && 32 * warptile <= widest(bcol); ++warptile) {
        for (int threads = 32; threads <= std::min<long long>(AtomicSchedule::max_threads, widest(bcol)); threads += 32) {
          schedules.push_back({.ufi = ufi, .ufk = ufk, .warptile = warptile, .threads = threads});
        }
      }
    }
  }
  return schedules;
}

std::vector<Directive> expand(const Schedule& schedule) {
  const auto& atomic = std::get<AtomicSchedule>(schedule);
  std::vector<Directive> directives{Unroll{"i", atomic.ufi}, MapGrid{"i"},
                                    MapLanes{"j", 32 * atomic.warptile, atomic.threads}, Unroll{"k", atomic.ufk},
                                    Transform{"A"}};
  if (atomic.compaction) {
    directives.emplace_back(Compact{});
  }
  return directives;
}

}  // namespace esc
