// SPDX-License-Identifier: Apache-2.0
#include "tests/support/json_convention.h"

#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

namespace esc::test {
namespace {

using nlohmann::json;
using Problems = std::vector<std::string>;

/// Objects of the release before whose keys are names, numbers or sentences; each is beside one with a new name.
bool is_old_object(const std::string& key) {
  static const std::set<std::string> old{"chain",    "cut",   "outcomes", "packed_bytes_of",
                                         "patterns", "plain", "rivals",   "verdicts"};
  return old.contains(key);
}

void check_key(const std::string& place, const std::string& key, Problems& problems) {
  static const std::regex snake_case("[a-z][a-z0-9]*(_[a-z0-9]+)*");
  if (!std::regex_match(key, snake_case)) {
    problems.push_back(place + "." + key + " is not in snake_case");
  }
  static const std::regex short_unit(".*_(us|ms|ns|s|sec|kb|mb|gb|kib|mib|pct)");
  if (std::regex_match(key, short_unit)) {
    problems.push_back(place + "." + key + " has an abbreviated unit");
  }
}

void check_value(const std::string& place, const json& value, bool keys_are_data, Problems& problems) {
  if (value.is_array()) {
    for (const json& element : value) {
      check_value(place + "[]", element, false, problems);
    }
  }
  if (!value.is_object()) {
    return;
  }
  for (const auto& [key, element] : value.items()) {
    if (is_old_object(key)) {
      continue;
    }
    if (!keys_are_data) {
      check_key(place, key, problems);
    }
    check_value(place + "." + key, element, key.find("_by_") != key.npos, problems);
  }
}

void check_result(const std::string& line, Problems& problems) {
  const json result = json::parse(line, nullptr, false);
  if (!result.is_object()) {
    problems.push_back("is no object: " + line);
    return;
  }
  for (const char* const key : {"kind", "status"}) {
    if (!result.contains(key) || !result.at(key).is_string() || result.at(key).get<std::string>().empty()) {
      problems.push_back(std::string("has no ") + key);
    }
  }
  if (result.value("format_version", json()) != 1) {
    problems.emplace_back("has no format_version");
  }
  check_value("", result, false, problems);
}

}  // namespace

Problems json_problems(const std::string& output) {
  Problems problems;
  if (!output.ends_with('\n')) {
    problems.emplace_back("does not end with a line");
  }
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    check_result(line, problems);
  }
  return problems;
}

std::set<std::string> commands_in_help(const std::string& help) {
  std::set<std::string> commands;
  const std::string listed = help.substr(help.find("\nCommands:\n"));
  const std::regex command("\n  ([a-z]+) ");
  for (std::sregex_iterator found(listed.begin(), listed.end(), command), end; found != end; ++found) {
    commands.insert((*found)[1]);
  }
  return commands;
}

}  // namespace esc::test
