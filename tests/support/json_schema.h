// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

namespace esc {

/// Whether a value is as the schema says, by the words of draft 2020-12 that the schema of specs has; a Defect for
/// others.
bool is_valid(const nlohmann::json& value, const nlohmann::json& schema);

}  // namespace esc
