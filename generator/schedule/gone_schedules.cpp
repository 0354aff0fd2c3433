// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/gone_schedules.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "generator/schedule/element_types.h"
#include "generator/schedule/settings.h"
#include "generator/support/trimmed.h"

namespace esc {
namespace {

/// What is after "stream:"; absent where the text is of another family.
std::optional<std::string_view> settings_of_stream(std::string_view text) {
  const std::size_t colon = text.find(':');
  return colon != text.npos && trimmed(text.substr(0, colon)) == "stream" ? std::optional(text.substr(colon + 1))
                                                                          : std::nullopt;
}

/// Whether a setting, in the keys of today or of before, is one that only kernels of 16 bits had.
bool is_gone_setting(std::string_view setting) {
  const std::size_t equals = std::min(setting.find('='), setting.size());
  const std::string_view key = trimmed(setting.substr(0, equals));
  const std::string_view value = trimmed(setting.substr(std::min(equals + 1, setting.size())));
  return (std::ranges::find(StreamSchedule::gone_keys, key) != StreamSchedule::gone_keys.end() && value == "on") ||
         (key == "tile" && value.ends_with("x1")) || (key == "columns" && value == "1");
}

}  // namespace

bool is_gone(std::string_view text) {
  const std::optional<std::string_view> settings = settings_of_stream(text);
  return settings && std::ranges::any_of(split(*settings, ','), is_gone_setting);
}

bool is_gone(const Schedule& schedule, std::string_view dtype) {
  return is_half_type(dtype) && std::holds_alternative<StreamSchedule>(schedule);
}

bool is_gone(std::string_view text, std::string_view dtype) {
  return is_gone(text) || (is_half_type(dtype) && settings_of_stream(text).has_value());
}

std::string describe(const GoneEntries& gone) {
  return fmt::format(
      "{}: {} this version does not have (family stream in 16 bits); {} left out", gone.file,
      gone.count == 1 ? "1 entry names a schedule that" : fmt::format("{} entries name schedules that", gone.count),
      gone.count == 1 ? "it is" : "they are");
}

}  // namespace esc
