// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace esc {

/// The settings of a schedule's text, "key=value,key=value", while a family reads them. Throws ScheduleError, with the
/// whole text as its place, for what it is asked to refuse.
class Settings {
 public:
  /// `text` is the whole schedule, `settings` what stands behind the family's colon. Refuses a key that is given twice
  /// and one that is not among `keys`.
  Settings(std::string_view text, std::string_view family, std::string_view settings,
           const std::vector<std::string>& keys);

  /// The number that the key is given, or `otherwise`. Refuses what is not a number.
  int number(const std::string& key, int otherwise) const;
  /// The word that the key is given, or `otherwise`. Refuses a word that is not among `words`.
  std::string word(const std::string& key, const std::string& otherwise, const std::vector<std::string>& words) const;

 private:
  std::string text_;
  std::map<std::string, std::string, std::less<>> values_;
};

/// The number in `text`. Throws ScheduleError, with the whole schedule as its place, for anything else.
int parse_setting(std::string_view schedule, std::string_view key, std::string_view text);

/// The parts of a text between separators; one part more than there are separators.
std::vector<std::string_view> split(std::string_view text, char separator);

/// Throws ScheduleError unless least <= value <= most and value is a multiple of `multiple`; names the nearest that is.
void check_range(const std::string& schedule, std::string_view key, int value, int least, int most, int multiple);

/// Throws ScheduleError unless value is a power of two from `least` to `most`, both powers of two; names the nearest.
void check_power_of_two(const std::string& schedule, std::string_view key, int value, int least, int most);

/// Whether a check of a schedule throws no ScheduleError: what is legal is said once, by the check.
bool is_accepted(const std::function<void()>& check);

}  // namespace esc
