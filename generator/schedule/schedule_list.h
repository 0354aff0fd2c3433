// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "generator/schedule/schedule.h"

namespace esc {

/// The schedules of a text that has one per line, each once, in the order of their first occurrence. Throws UserError
/// with file and line for what is no schedule.
std::vector<Schedule> parse_schedules(const std::string& text, const std::string& file);

/// The same schedules, each once, in the order of their first occurrence.
std::vector<Schedule> without_repetitions(const std::vector<Schedule>& schedules);

}  // namespace esc
