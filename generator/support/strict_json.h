// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace esc {

/// The value in a JSON text from outside. An object with a key twice, of which readers see one or the other, is refused
/// with its place, after that of the text: UserError ("FILE: layers[0].bcol"). So is a text with a NUL, after which a
/// name of a file would go unseen, and what is nested too deeply. Throws nlohmann::json::parse_error for
/// what is not JSON.
nlohmann::json parse_strict_json(std::string_view text, const std::string& file);

/// The same; nothing where that throws.
std::optional<nlohmann::json> json_in(std::string_view text);

}  // namespace esc
