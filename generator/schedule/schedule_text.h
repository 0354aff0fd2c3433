// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "generator/schedule/schedule.h"

namespace esc {

/// The canonical text without spaces, for lines whose words spaces part; parse_schedule reads it as well.
std::string compact(const Schedule& schedule);

/// The text in the keys of today, where it is a schedule's; any other text, a library's name say, as it is. Throws
/// ScheduleError where it names a family and is wrong.
std::string in_todays_keys(const std::string& text);

}  // namespace esc
