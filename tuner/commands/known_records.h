// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "generator/commands/console.h"
#include "tuner/records/record.h"

namespace esc {

/// The records of files but those of schedules that are gone; says of each file how many these are. Throws UserError as
/// read_records does.
std::vector<tuning::Record> read_known_records(const std::vector<std::string>& files, const Console& console);

}  // namespace esc
