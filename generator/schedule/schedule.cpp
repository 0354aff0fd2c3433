// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/schedule.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "generator/schedule/schedule_keys.h"
#include "generator/support/closest_word.h"
#include "generator/support/trimmed.h"

namespace esc {
namespace {

const char* family_of(const AtomicSchedule&) { return "atomic"; }
const char* family_of(const PanelSchedule&) { return "panel"; }
const char* family_of(const RowsSchedule&) { return "rows"; }
const char* family_of(const StreamSchedule&) { return "stream"; }
const char* family_of(const GatherSchedule&) { return "gather"; }
const char* family_of(const BitmapSchedule&) { return "bitmap"; }

int height_of(const AtomicSchedule& schedule) { return schedule.ufi; }
int height_of(const PanelSchedule& schedule) { return schedule.ufi; }
int height_of(const RowsSchedule&) { return 1; }
int height_of(const StreamSchedule& schedule) { return schedule.rows; }
int height_of(const GatherSchedule& schedule) { return schedule.sets; }
int height_of(const BitmapSchedule&) { return BitmapSchedule::row_tile_rows; }

Schedule parse_family(std::string_view text) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos) {
    return parse_short_atomic(text);
  }
  const std::string_view family = trimmed(text.substr(0, colon));
  const std::string_view settings = text.substr(colon + 1);
  if (family == "atomic") {
    return parse_atomic(text, settings);
  }
  if (family == "panel") {
    return parse_panel(text, settings);
  }
  if (family == "rows") {
    return parse_rows(text, settings);
  }
  if (family == "stream") {
    return parse_stream(text, settings);
  }
  if (family == "gather") {
    return parse_gather(text, settings);
  }
  if (family == "bitmap") {
    return parse_bitmap(text, settings);
  }
  const std::vector<std::string> names = schedule_family_names();
  throw ScheduleError(std::string(text), fmt::format("there is no family '{}'", family),
                      fmt::format("{}the families are: {}", did_you_mean(family, names), fmt::join(names, ", ")));
}

}  // namespace

Schedule parse_schedule(std::string_view text) {
  const Schedule schedule = parse_family(text);
  std::visit([](const auto& one) { check_ranges(one); }, schedule);
  return schedule;
}

std::string print(const Schedule& schedule) {
  return std::visit([](const auto& one) { return print(one); }, schedule);
}

std::string family(const Schedule& schedule) {
  return std::visit([](const auto& one) { return family_of(one); }, schedule);
}

int row_tile_height(const Schedule& schedule) {
  return std::visit([](const auto& one) { return height_of(one); }, schedule);
}

void check_legal(const Schedule& schedule, const ProductColumns& columns) {
  std::visit([&](const auto& one) { check_legal(one, columns); }, schedule);
}

std::vector<Directive> expand(const Schedule& schedule) {
  return std::visit([](const auto& one) { return expand(one); }, schedule);
}

}  // namespace esc
