// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/schedule_list.h"

#include <fmt/format.h>

#include <set>

#include "generator/support/error.h"
#include "generator/support/meaningful_lines.h"

namespace esc {

std::vector<Schedule> parse_schedules(const std::string& text, const std::string& file) {
  std::vector<Schedule> schedules;
  for (const TextLine& line : meaningful_lines(text)) {
    try {
      schedules.push_back(parse_schedule(line.text));
    } catch (const UserError& error) {
      throw UserError(fmt::format("{}:{}: {}", file, line.number, error.place()), error.rule(), error.remedy());
    }
  }
  return without_repetitions(schedules);
}

std::vector<Schedule> without_repetitions(const std::vector<Schedule>& schedules) {
  std::set<std::string> seen;
  std::vector<Schedule> result;
  for (const Schedule& schedule : schedules) {
    if (seen.insert(print(schedule)).second) {
      result.push_back(schedule);
    }
  }
  return result;
}

}  // namespace esc
