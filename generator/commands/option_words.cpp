// SPDX-License-Identifier: Apache-2.0
#include "generator/commands/option_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

#include "generator/support/closest_word.h"

namespace esc {
namespace {

/// The words between the braces or bars of "TEXT:{host,gpu}" or "f32|f64".
std::vector<std::string> words_in(const std::string& type) {
  const std::size_t open = type.find('{');
  const std::size_t close = type.find('}');
  const bool is_set = open != type.npos && close != type.npos && open < close;
  if (!is_set && type.find('|') == type.npos) {
    return {};
  }
  std::istringstream text(is_set ? type.substr(open + 1, close - open - 1) : type);
  std::vector<std::string> words;
  for (std::string word; std::getline(text, word, is_set ? ',' : '|');) {
    words.push_back(word);
  }
  return words;
}

OptionWords words_of(const CLI::Option& option) {
  OptionWords words;
  for (const std::string& name : option.get_snames()) {
    words.names.push_back("-" + name);
  }
  for (const std::string& name : option.get_lnames()) {
    words.names.push_back("--" + name);
  }
  words.is_positional = words.names.empty();
  if (words.is_positional) {
    words.names.push_back(option.get_name(true));
  }
  words.is_required = option.get_required();
  if (option.get_items_expected_max() > 0) {
    const std::string type = option.get_type_name();
    words.values = words_in(type);
    words.value =
        words.values.empty() ? type.substr(0, type.find(':')) : fmt::format("{}", fmt::join(words.values, "|"));
  }
  words.description = option.get_description();
  words.heading = option.get_group();
  words.preset = option.get_default_str();
  return words;
}

}  // namespace

std::vector<OptionWords> options_of(const CLI::App& command) {
  std::vector<OptionWords> all;
  for (const CLI::Option* const option : command.get_options()) {
    if (!option->get_group().empty()) {
      all.push_back(words_of(*option));
    }
  }
  return all;
}

std::vector<const CLI::App*> commands_of(const CLI::App& program) {
  std::vector<const CLI::App*> shown;
  for (const CLI::App* const command : program.get_subcommands([](const CLI::App*) { return true; })) {
    if (!command->get_group().empty()) {
      shown.push_back(command);
    }
  }
  return shown;
}

CLI::Validator one_of(const std::vector<std::string>& words) {
  const std::string set = fmt::format("{{{}}}", fmt::join(words, ","));
  const auto problem = [words, set](const std::string& word) {
    if (std::ranges::find(words, word) != words.end()) {
      return std::string();
    }
    const std::string meant = did_you_mean(word, words);
    return fmt::format("{} not in {}{}{}", word, set, meant.empty() ? "" : ", ",
                       meant.substr(0, meant.find_last_not_of(' ') + 1));
  };
  return CLI::Validator([problem](std::string& word) { return problem(word); }, set);
}

}  // namespace esc
