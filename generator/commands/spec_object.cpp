// SPDX-License-Identifier: Apache-2.0
#include "generator/commands/spec_object.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "generator/support/strict_json.h"

namespace esc {
namespace {

/// "matrix and bcol, and if need be name, schedule".
std::string keys_text(const SpecForm& form) {
  std::vector<std::string> required;
  std::vector<std::string> others;
  for (const SpecKey& key : form) {
    (key.is_required ? required : others).push_back(key.name);
  }
  return fmt::format("{}{}", fmt::join(required, " and "),
                     others.empty() ? "" : fmt::format(", and if need be {}", fmt::join(others, ", ")));
}

}  // namespace

nlohmann::json spec_in(const std::string& text, const std::string& file) {
  try {
    return parse_strict_json(text, file);
  } catch (const nlohmann::json::exception& problem) {
    throw UserError(file, fmt::format("is not JSON: {}", problem.what()), spec_example);
  }
}

SpecObject::SpecObject(std::string place, const nlohmann::json& object, const SpecForm& form)
    : place_(std::move(place)), object_(object), form_(form) {
  if (!object.is_object()) {
    refuse("is not an object");
  }
  for (const auto& [name, value] : object.items()) {
    if (std::ranges::find(form, name, &SpecKey::name) == form.end()) {
      refuse(fmt::format("has an unknown key \"{}\"", name));
    }
  }
  for (const SpecKey& key : form) {
    if (key.is_required && !has(key.name)) {
      refuse(fmt::format("has no \"{}\"", key.name));
    }
    if (const std::string problem = has(key.name) ? why_not_value(key, object.at(key.name)) : ""; !problem.empty()) {
      refuse(problem);
    }
  }
}

std::string SpecObject::text(const std::string& key, const std::string& otherwise) const {
  return has(key) ? object_.at(key).get<std::string>() : otherwise;
}

bool SpecObject::flag(const std::string& key, bool otherwise) const {
  return has(key) ? object_.at(key).get<bool>() : otherwise;
}

std::vector<std::string> SpecObject::texts(const std::string& key) const {
  if (!has(key)) {
    return {};
  }
  const nlohmann::json& value = object_.at(key);
  return value.is_array() ? value.get<std::vector<std::string>>() : std::vector<std::string>{value};
}

std::vector<std::int64_t> SpecObject::bcols(const std::string& key) const {
  const nlohmann::json& value = object_.at(key);
  if (!value.is_array()) {
    return {whole_number(value)};
  }
  std::vector<std::int64_t> bcols;
  std::ranges::transform(value, std::back_inserter(bcols), whole_number);
  return bcols;
}

std::vector<TokenCount> SpecObject::token_counts(const std::string& key) const {
  const auto count_of = [](const nlohmann::json& value) {
    if (!value.is_string()) {
      return TokenCount{.columns = whole_number(value)};
    }
    const std::string text = value;
    return parse_token_count(text, "--bcol " + text);
  };
  const nlohmann::json& value = object_.at(key);
  if (!value.is_array()) {
    return {count_of(value)};
  }
  std::vector<TokenCount> counts;
  std::ranges::transform(value, std::back_inserter(counts), count_of);
  return counts;
}

std::int64_t SpecObject::whole_number(const nlohmann::json& number) {
  constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  const bool fits = !number.is_number_unsigned() || number.get<std::uint64_t>() <= largest;
  return fits ? number.get<std::int64_t>() : largest;
}

void SpecObject::refuse(const std::string& rule) const {
  throw UserError(place_, rule, "its keys are " + keys_text(form_));
}

}  // namespace esc
