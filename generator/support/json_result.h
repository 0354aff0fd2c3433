// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace esc {

/// A result of a command as --json prints it: one object on a line of its own, with the keys that every result has
/// beside its own. `kind` says what is described, `status` what became of it. Bytes that are not UTF-8, as names of
/// files may have, are replaced.
std::string json_result(const std::string& kind, const std::string& status, nlohmann::json result);

/// Sets a key that the release before called otherwise, and its old name beside it for scripts that read that.
void set_renamed(nlohmann::json& object, const char* key, const char* old_key, const nlohmann::json& value);

}  // namespace esc
