// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "generator/schedule/schedule_keys.h"

namespace esc {

/// The settings of a schedule's text, "key=value, key=value", while a family reads them: with the keys of today, or
/// with those that the releases before had. Throws ScheduleError, with the whole text as its place, for what it is
/// asked to refuse.
class Settings {
 public:
  /// `text` is the whole schedule, `settings` what is after the family's colon. Refuses a key that is given twice, one
  /// that the family does not have, and old keys beside new ones.
  Settings(std::string_view text, const ScheduleFamily& family, std::string_view settings);

  /// Whether the keys are those of the releases before, which some have in common with those of today.
  bool is_old() const { return is_old_; }
  const std::string& text() const { return text_; }
  bool has(const std::string& key) const { return values_.contains(key); }

  /// The number that the key is given, or `otherwise`. Refuses what is not a number.
  int number(const std::string& key, int otherwise) const;
  /// The word that the key is given, or `otherwise`. Refuses a word that is not among `words`; those of `before` are
  /// what these were called before, one for each, or none.
  std::string word(const std::string& key, const std::string& otherwise, const std::vector<std::string>& words,
                   const std::vector<std::string>& before = {}) const;
  /// Whether the key is on.
  bool flag(const std::string& key, bool otherwise) const;
  /// The numbers of "32x256x16", or `otherwise`. Refuses another number of numbers.
  std::vector<int> tile(const std::string& key, const std::vector<int>& otherwise) const;

 private:
  std::string text_;
  bool is_old_ = false;
  std::map<std::string, std::string, std::less<>> values_;
};

/// The text of a schedule of the family: "stream: tile=32x256x16, warps=4", with the value that the function gives each
/// key, and without the keys for which it is empty.
std::string print_settings(const ScheduleFamily& family, const std::function<std::string(std::string_view)>& value_of);

/// "on" or "off".
std::string on_or_off(bool value);

/// The text of a schedule, which is written where somebody asks for it: most checks refuse nothing. What it is of
/// outlives it.
class ScheduleText {
 public:
  ScheduleText(const std::string& text) : write_([&text] { return text; }) {}
  template <typename Family>
    requires(!std::is_convertible_v<Family, std::string>)
  explicit ScheduleText(const Family& schedule) : write_([&schedule] { return print(schedule); }) {}

  std::string str() const { return write_(); }

 private:
  std::function<std::string()> write_;
};

/// How a number is written as a setting where that has others beside it: "tile=64x256x8" for its rows.
using SettingText = std::function<std::string(long long)>;

/// `whole` / `part`. Throws ScheduleError unless that is a whole number, 1 at least; both have names for that.
int whole_parts(const ScheduleText& schedule, std::string_view whole_name, long long whole, std::string_view part_name,
                long long part, const SettingText& written = {});

/// a * b, or the largest int where that is more.
int bounded_product(int a, int b);

/// The number in `text`. Throws ScheduleError, with the whole schedule as its place, for anything else.
int parse_setting(std::string_view schedule, std::string_view key, std::string_view text);

/// The parts of a text between separators; one part more than there are separators.
std::vector<std::string_view> split(std::string_view text, char separator);

/// Throws ScheduleError unless least <= value <= most and value is a multiple of `multiple`; names the nearest that is.
/// `written` writes it where "key=value" does not.
void check_range(const ScheduleText& schedule, std::string_view key, int value, int least, int most, int multiple,
                 const SettingText& written = {});

/// Throws ScheduleError unless value is a power of two from `least` to `most`, both powers of two; names the nearest.
void check_power_of_two(const ScheduleText& schedule, std::string_view key, int value, int least, int most,
                        const SettingText& written = {});

/// Whether a check of a schedule throws no ScheduleError: what is legal is said once, by the check.
bool is_accepted(const std::function<void()>& check);

}  // namespace esc
