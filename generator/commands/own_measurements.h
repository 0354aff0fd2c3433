// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "generator/commands/console.h"
#include "generator/schedule/database_files.h"

namespace esc {

/// Says what of a file is left out, if anything.
void say_gone(const GoneEntries& gone, const Console& console);

/// What `--database` names; says what of it is left out. Throws UserError as read_measurements does.
UserMeasurements read_own_measurements(const std::string& database, const Console& console);

}  // namespace esc
