// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "generator/commands/model_layers.h"

namespace esc {

/// What the layers of which that is known are expected to take together, a line for each device and number of columns;
/// where these have weights, a line for all of them, for each capability.
std::string model_speeds(const std::vector<ModelRow>& rows, const std::vector<TokenCount>& counts);

/// What became of each layer, a row for each, with its expected speeds and what users should know; with the schedules
/// where these are asked for.
std::string model_table(const std::vector<ModelRow>& rows, bool with_schedules);

/// The rows for machines; with the weights of numbers of columns that have some.
nlohmann::json model_table_json(const std::vector<ModelRow>& rows, const std::vector<TokenCount>& counts);

/// What the layers take by these weights, for each capability.
nlohmann::json weighted_totals_json(const std::vector<ModelRow>& rows, const std::vector<TokenCount>& counts);

}  // namespace esc
