// SPDX-License-Identifier: Apache-2.0
#include "generator/support/json_result.h"

namespace esc {

std::string json_result(const std::string& kind, const std::string& status, nlohmann::json result) {
  result["format_version"] = 1;
  result["kind"] = kind;
  result["status"] = status;
  return result.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

void set_renamed(nlohmann::json& object, const char* key, const char* old_key, const nlohmann::json& value) {
  object[key] = value;
  object[old_key] = value;
}

}  // namespace esc
