// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <vector>

#include "generator/schedule/schedule_database.h"

namespace esc {

/// The schedule databases of a file, one for each layout, or of a folder, as `esctune publish -o` makes them: those
/// among its files whose names are a device key and an element type, in the order of their names. Throws UserError for
/// what cannot be read, what is no database, and a folder that has none.
std::vector<ScheduleDatabase> read_databases(const std::filesystem::path& file_or_folder);

}  // namespace esc
