// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <charconv>

#include "generator/schedule/directive.h"

namespace esc {

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

int parse_setting(std::string_view schedule, std::string_view key, std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw ScheduleError(
        std::string(schedule), fmt::format("'{}' is not a number for {}", text, key),
        "write schedules as in 4-7-1-32, atomic:ufi=4,ufk=7,warptile=1,threads=32 or panel:ufi=2,warps=8");
  }
  return value;
}

Settings::Settings(std::string_view text, std::string_view family, std::string_view settings,
                   const std::vector<std::string>& keys)
    : text_(text) {
  for (const std::string_view setting : split(settings, ',')) {
    const auto equals = setting.find('=');
    const std::string key(setting.substr(0, equals));
    const std::string_view value = equals == std::string_view::npos ? "" : setting.substr(equals + 1);
    if (std::ranges::find(keys, key) == keys.end()) {
      throw ScheduleError(text_, fmt::format("family {} has no key '{}'", family, key),
                          fmt::format("its keys are {}", fmt::join(keys, ", ")));
    }
    if (!values_.emplace(key, value).second) {
      throw ScheduleError(text_, fmt::format("key '{}' is given twice", key), "give it once");
    }
  }
}

int Settings::number(const std::string& key, int otherwise) const {
  const auto found = values_.find(key);
  return found == values_.end() ? otherwise : parse_setting(text_, key, found->second);
}

std::string Settings::word(const std::string& key, const std::string& otherwise,
                           const std::vector<std::string>& words) const {
  const auto found = values_.find(key);
  if (found == values_.end()) {
    return otherwise;
  }
  if (std::ranges::find(words, found->second) == words.end()) {
    throw ScheduleError(text_, fmt::format("{}={} is neither {}", key, found->second, fmt::join(words, " nor ")),
                        fmt::format("write {}={}", key, fmt::join(words, fmt::format(" or {}=", key))));
  }
  return found->second;
}

void check_range(const std::string& schedule, std::string_view key, int value, int least, int most, int multiple) {
  if (value >= least && value <= most && value % multiple == 0) {
    return;
  }
  const int rounded = (std::clamp(value, least, most) + multiple / 2) / multiple * multiple;
  const int nearest = std::clamp(rounded, least, most);
  const std::string rule =
      multiple == 1 ? fmt::format("{}={} is outside {} to {}", key, value, least, most)
                    : fmt::format("{}={} is not a multiple of {} from {} to {}", key, value, multiple, least, most);
  throw ScheduleError(schedule, rule, fmt::format("the nearest legal value is {}={}", key, nearest));
}

void check_power_of_two(const std::string& schedule, std::string_view key, int value, int least, int most) {
  const auto bits = static_cast<unsigned>(std::clamp(value, least, most));
  if (value >= least && value <= most && std::has_single_bit(bits)) {
    return;
  }
  throw ScheduleError(schedule, fmt::format("{}={} is not a power of two from {} to {}", key, value, least, most),
                      fmt::format("the nearest legal value is {}={}", key, std::bit_floor(bits)));
}

bool is_accepted(const std::function<void()>& check) {
  try {
    check();
    return true;
  } catch (const ScheduleError&) {
    return false;
  }
}

}  // namespace esc
