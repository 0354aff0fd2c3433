// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "generator/commands/model_layers.h"

namespace esc {

/// What the layers of which that is known are expected to take together, a line for each device and number of columns.
std::string model_speeds(const std::vector<ModelRow>& rows);

/// What became of each layer, a row for each, with its expected speeds and what users should know; with the schedules
/// where these are asked for.
std::string model_table(const std::vector<ModelRow>& rows, bool with_schedules);

/// The rows for machines.
nlohmann::json model_table_json(const std::vector<ModelRow>& rows);

}  // namespace esc
