// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace esc {

/// The value in a JSON text from outside. An object with a key twice, of which readers see one or the other, is refused
/// with its place, behind that of the text: UserError ("FILE: layers[0].bcol"). Throws nlohmann::json::parse_error for
/// what is not JSON.
nlohmann::json parse_strict_json(std::string_view text, const std::string& file);

}  // namespace esc
