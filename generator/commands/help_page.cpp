// SPDX-License-Identifier: Apache-2.0
#include "generator/commands/help_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>
#include <vector>

#include "generator/commands/option_words.h"
#include "generator/support/page_text.h"

namespace esc {
namespace {

constexpr std::size_t name_columns = 26;  ///< with the two before a name

/// "  NAME       text", or the text below a name that is too long.
std::string entry(const std::string& name, const std::string& text) {
  const bool fits = name.size() + 3 <= name_columns;
  std::string page = fits ? "" : "  " + name + "\n";
  for (const std::string& line : wrapped(text, page_columns - name_columns)) {
    const std::string left = page.empty() ? "  " + name : "";
    page += fmt::format("{:<{}}{}\n", left, name_columns, line);
  }
  return page;
}

std::string name_text(const OptionWords& option) {
  const std::string names = fmt::format("{}", fmt::join(option.names, ","));
  return option.is_positional || option.value.empty() ? names : names + " " + option.value;
}

/// The description, with what holds where the option is not given.
std::string description_text(const OptionWords& option) {
  const bool says_default = option.description.find("default") != std::string::npos;
  const std::string preset = option.preset.empty() || says_default ? "" : fmt::format(" [default: {}]", option.preset);
  return option.description + (option.is_required ? " (required)" : "") + preset;
}

std::string usage(const CLI::App& app, const std::string& name, const std::vector<OptionWords>& options) {
  std::string text = fmt::format("Usage: {} [OPTIONS]", name);
  for (const OptionWords& option : options) {
    if (option.is_positional) {
      text += option.is_required ? " " + option.names.front() : " [" + option.names.front() + "]";
    }
  }
  return text + (commands_of(app).empty() ? "" : " COMMAND") + "\n";
}

/// The headings of the options: what is read, what is made of it, and how; those without one come last.
std::vector<std::string> headings_of(const std::vector<OptionWords>& options) {
  std::vector<std::string> headings{"Input",    "Product", "Target",    "Estimate",
                                    "Schedule", "Search",  "Measuring", "Output"};
  std::erase_if(headings, [&](const std::string& heading) {
    return std::ranges::find(options, heading, &OptionWords::heading) == options.end();
  });
  for (const OptionWords& option : options) {
    if (!option.is_positional && option.heading != "Options" &&
        std::ranges::find(headings, option.heading) == headings.end()) {
      headings.push_back(option.heading);
    }
  }
  headings.emplace_back("Options");
  return headings;
}

/// Lines that begin with spaces are to be typed, as they are; others are sentences.
std::string footer(const CLI::App& app) {
  std::string text;
  std::istringstream lines(app.get_footer());
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(' ') || line.empty()) {
      text += line + "\n";
      continue;
    }
    std::string indent;
    for (const std::string& part : wrapped(line, page_columns - 2)) {
      text += indent + part + "\n";
      indent = "  ";
    }
  }
  return text.empty() ? "" : "\n" + text;
}

}  // namespace

std::string HelpPage::make_help(const CLI::App* app, std::string name, CLI::AppFormatMode) const {
  const std::vector<OptionWords> options = options_of(*app);
  std::string page;
  for (const std::string& line : wrapped(app->get_description(), page_columns)) {
    page += line + "\n";
  }
  page += "\n" + usage(*app, name, options);
  std::string positionals;
  for (const OptionWords& option : options) {
    positionals += option.is_positional ? entry(name_text(option), description_text(option)) : "";
  }
  page += positionals.empty() ? "" : "\n" + positionals;
  for (const std::string& heading : headings_of(options)) {
    page += "\n" + heading + ":\n";
    for (const OptionWords& option : options) {
      page +=
          !option.is_positional && option.heading == heading ? entry(name_text(option), description_text(option)) : "";
    }
  }
  std::string commands;
  for (const CLI::App* const command : commands_of(*app)) {
    commands += entry(command->get_name(), command->get_description());
  }
  return page + (commands.empty() ? "" : "\nCommands:\n" + commands) + footer(*app);
}

}  // namespace esc
