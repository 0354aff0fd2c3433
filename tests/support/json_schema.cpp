// SPDX-License-Identifier: Apache-2.0
#include "tests/support/json_schema.h"

#include <algorithm>
#include <functional>
#include <map>
#include <regex>
#include <set>

#include "generator/support/error.h"

namespace esc {
namespace {

using nlohmann::json;
using Judge = std::function<bool(const json& value, const json& argument, const json& schema)>;

bool has_type(const json& value, const std::string& type) {
  return (type == "object" && value.is_object()) || (type == "array" && value.is_array()) ||
         (type == "string" && value.is_string()) || (type == "boolean" && value.is_boolean()) ||
         (type == "integer" && value.is_number_integer()) || (type == "number" && value.is_number());
}

auto count_valid(const json& value, const json& schemas) {
  return std::ranges::count_if(schemas, [&](const json& one) { return is_valid(value, one); });
}

/// Each key that has a schema of its own by that one, the others by `additionalProperties`.
bool are_properties_valid(const json& value, const json& schema) {
  if (!value.is_object()) {
    return true;
  }
  const json own = schema.value("properties", json::object());
  const json additional = schema.value("additionalProperties", json::object());
  for (const auto& [key, element] : value.items()) {
    if (own.contains(key) ? !is_valid(element, own[key]) : additional == false || !is_valid(element, additional)) {
      return false;
    }
  }
  return true;
}

const std::map<std::string, Judge>& judges() {
  static const Judge accept = [](const json&, const json&, const json&) { return true; };
  static const Judge properties = [](const json& value, const json&, const json& schema) {
    return are_properties_valid(value, schema);
  };
  static const std::map<std::string, Judge> all{
      {"$schema", accept},
      {"title", accept},
      {"description", accept},
      {"properties", properties},
      {"additionalProperties", properties},
      {"type", [](const json& value, const json& type, const json&) { return has_type(value, type); }},
      {"pattern",
       [](const json& value, const json& pattern, const json&) {
         return !value.is_string() ||
                std::regex_search(value.get<std::string>(), std::regex(pattern.get<std::string>()));
       }},
      {"required",
       [](const json& value, const json& keys, const json&) {
         return !value.is_object() ||
                std::ranges::all_of(keys, [&](const json& key) { return value.contains(key.get<std::string>()); });
       }},
      {"items",
       [](const json& value, const json& item, const json&) {
         return !value.is_array() || std::ranges::all_of(value, [&](const json& one) { return is_valid(one, item); });
       }},
      {"minItems", [](const json& value, const json& least,
                      const json&) { return !value.is_array() || value.size() >= least.get<std::size_t>(); }},
      {"uniqueItems",
       [](const json& value, const json&, const json&) {
         return !value.is_array() || std::set<json>(value.begin(), value.end()).size() == value.size();
       }},
      {"minimum", [](const json& value, const json& least,
                     const json&) { return !value.is_number() || value.get<double>() >= least.get<double>(); }},
      {"maximum", [](const json& value, const json& most,
                     const json&) { return !value.is_number() || value.get<double>() <= most.get<double>(); }},
      {"exclusiveMinimum", [](const json& value, const json& bound,
                              const json&) { return !value.is_number() || value.get<double>() > bound.get<double>(); }},
      {"anyOf", [](const json& value, const json& schemas, const json&) { return count_valid(value, schemas) > 0; }},
      {"oneOf", [](const json& value, const json& schemas, const json&) { return count_valid(value, schemas) == 1; }}};
  return all;
}

}  // namespace

bool is_valid(const json& value, const json& schema) {
  for (const auto& [word, argument] : schema.items()) {
    const auto judge = judges().find(word);
    ESC_CHECK(judge != judges().end(), "a schema says what is known here");
    if (!judge->second(value, argument, schema)) {
      return false;
    }
  }
  return true;
}

}  // namespace esc
