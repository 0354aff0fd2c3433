// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <limits>

#include "generator/schedule/directive.h"
#include "generator/support/closest_word.h"
#include "generator/support/trimmed.h"

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
    throw ScheduleError(std::string(schedule), fmt::format("'{}' is not a number for {}", text, key),
                        "write schedules as in 4-7-1-32, or 'panel: tile=2x32, thread=2x4, split_k=8'");
  }
  return value;
}

namespace {

/// What the family's keys are called now, and what they were called before.
struct KeyNames {
  std::vector<std::string_view> now;
  std::vector<std::string_view> before;

  explicit KeyNames(const ScheduleFamily& family) {
    for (const ScheduleKey& key : family.keys) {
      now.push_back(key.name);
      for (const std::string_view old : split(key.old, ' ')) {
        before.push_back(old);
      }
    }
  }
  bool is_new_alone(std::string_view key) const { return has(now, key) && !has(before, key); }
  bool is_old_alone(std::string_view key) const { return has(before, key) && !has(now, key); }
  bool knows(std::string_view key) const { return has(now, key) || has(before, key); }

 private:
  static bool has(const std::vector<std::string_view>& names, std::string_view key) {
    return std::ranges::find(names, key) != names.end();
  }
};

}  // namespace

Settings::Settings(std::string_view text, const ScheduleFamily& family, std::string_view settings) : text_(text) {
  const KeyNames names(family);
  std::string now;
  std::string before;
  for (const std::string_view setting : split(settings, ',')) {
    const auto equals = setting.find('=');
    const std::string key(trimmed(setting.substr(0, equals)));
    const std::string_view value = equals == std::string_view::npos ? "" : trimmed(setting.substr(equals + 1));
    if (!names.knows(key)) {
      throw ScheduleError(text_, fmt::format("family {} has no key '{}'", family.name, key),
                          fmt::format("{}its keys are {}", did_you_mean(key, {names.now.begin(), names.now.end()}),
                                      fmt::join(names.now, ", ")));
    }
    if (!values_.emplace(key, value).second) {
      throw ScheduleError(text_, fmt::format("key '{}' is given twice", key), "give it once");
    }
    now = names.is_new_alone(key) ? key : now;
    before = names.is_old_alone(key) ? key : before;
  }
  if (!now.empty() && !before.empty()) {
    throw ScheduleError(text_, fmt::format("has the old key '{}' beside '{}'", before, now),
                        fmt::format("write it in the keys of today: {}", fmt::join(names.now, ", ")));
  }
  is_old_ = now.empty();
}

bool Settings::flag(const std::string& key, bool otherwise) const {
  return word(key, on_or_off(otherwise), {"on", "off"}) == "on";
}

std::vector<int> Settings::tile(const std::string& key, const std::vector<int>& otherwise) const {
  const auto found = values_.find(key);
  if (found == values_.end()) {
    return otherwise;
  }
  std::vector<int> numbers;
  for (const std::string_view part : split(found->second, 'x')) {
    numbers.push_back(parse_setting(text_, key, part));
  }
  if (numbers.size() != otherwise.size()) {
    throw ScheduleError(text_, fmt::format("{}={} has {} numbers", key, found->second, numbers.size()),
                        fmt::format("write {}, as in {}={}", otherwise.size(), key, fmt::join(otherwise, "x")));
  }
  return numbers;
}

std::string print_settings(const ScheduleFamily& family, const std::function<std::string(std::string_view)>& value_of) {
  std::string text;
  for (const ScheduleKey& key : family.keys) {
    if (const std::string value = value_of(key.name); !value.empty()) {
      text += fmt::format("{} {}={}", text.empty() ? ":" : ",", key.name, value);
    }
  }
  return std::string(family.name) + text;
}

int bounded_product(int a, int b) {
  return static_cast<int>(std::min<long long>(1LL * a * b, std::numeric_limits<int>::max()));
}

std::string on_or_off(bool value) { return value ? "on" : "off"; }

namespace {

std::string nearest_text(std::string_view key, long long nearest, const SettingText& written) {
  return "the nearest legal value is " + (written ? written(nearest) : fmt::format("{}={}", key, nearest));
}

}  // namespace

int whole_parts(const ScheduleText& schedule, std::string_view whole_name, long long whole, std::string_view part_name,
                long long part, const SettingText& written) {
  if (part >= 1 && whole >= part && whole % part == 0) {
    return static_cast<int>(whole / part);
  }
  throw ScheduleError(schedule.str(), fmt::format("{}={} is no multiple of {}={}", whole_name, whole, part_name, part),
                      part < 1 ? fmt::format("choose {} of 1 at least", part_name)
                               : nearest_text(whole_name, std::max(part, whole / part * part), written));
}

int Settings::number(const std::string& key, int otherwise) const {
  const auto found = values_.find(key);
  return found == values_.end() ? otherwise : parse_setting(text_, key, found->second);
}

std::string Settings::word(const std::string& key, const std::string& otherwise, const std::vector<std::string>& words,
                           const std::vector<std::string>& before) const {
  const auto found = values_.find(key);
  if (found == values_.end()) {
    return otherwise;
  }
  if (const auto old = std::ranges::find(before, found->second); old != before.end()) {
    return words[static_cast<std::size_t>(old - before.begin())];
  }
  if (std::ranges::find(words, found->second) == words.end()) {
    throw ScheduleError(text_, fmt::format("{}={} is neither {}", key, found->second, fmt::join(words, " nor ")),
                        fmt::format("write {}={}", key, fmt::join(words, fmt::format(" or {}=", key))));
  }
  return found->second;
}

void check_range(const ScheduleText& schedule, std::string_view key, int value, int least, int most, int multiple,
                 const SettingText& written) {
  if (value >= least && value <= most && value % multiple == 0) {
    return;
  }
  const int rounded = (std::clamp(value, least, most) + multiple / 2) / multiple * multiple;
  const int nearest = std::clamp(rounded, least, most);
  const std::string rule =
      multiple == 1 ? fmt::format("{}={} is outside {} to {}", key, value, least, most)
                    : fmt::format("{}={} is not a multiple of {} from {} to {}", key, value, multiple, least, most);
  throw ScheduleError(schedule.str(), rule, nearest_text(key, nearest, written));
}

void check_power_of_two(const ScheduleText& schedule, std::string_view key, int value, int least, int most,
                        const SettingText& written) {
  const auto bits = static_cast<unsigned>(std::clamp(value, least, most));
  if (value >= least && value <= most && std::has_single_bit(bits)) {
    return;
  }
  throw ScheduleError(schedule.str(), fmt::format("{}={} is not a power of two from {} to {}", key, value, least, most),
                      nearest_text(key, std::bit_floor(bits), written));
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
