// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "generator/commands/model_layers.h"

namespace esc {

/// What became of each layer, a row for each, with its schedules, and what those of which that is known are expected to
/// take.
std::string model_table(const std::vector<ModelRow>& rows);

/// The rows for machines.
nlohmann::json model_table_json(const std::vector<ModelRow>& rows);

}  // namespace esc
