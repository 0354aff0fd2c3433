// SPDX-License-Identifier: Apache-2.0
#include "generator/commands/man_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <sstream>

#include "generator/commands/option_words.h"

namespace esc {
namespace {

/// A text as roff prints it and not as its requests: lines do not begin with a dot or a quote, a dash is one that can
/// be copied.
std::string roff(const std::string& text) {
  std::string escaped;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    const bool begins_line = at == 0 || text[at - 1] == '\n';
    if (begins_line && (c == '.' || c == '\'')) {
      escaped += "\\&";
    }
    escaped += c == '\\' ? "\\e" : c == '-' ? "\\-" : std::string(1, c);
  }
  return escaped;
}

std::string capitals(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

/// An entry of a list: the names of an option in bold, its value in italics, what it does indented below.
std::string entry(const OptionWords& option) {
  std::string text = ".TP\n";
  for (std::size_t number = 0; number < option.names.size(); ++number) {
    text += fmt::format("{}\\fB{}\\fR", number == 0 ? "" : ", ", roff(option.names[number]));
  }
  if (!option.value.empty() && !option.is_positional) {
    text += fmt::format(" \\fI{}\\fR", roff(option.value));
  }
  return text + "\n" + roff(option.description) + (option.is_required ? " (required)" : "") + "\n";
}

/// The footer of a command: its example, as it is typed.
std::string example(const CLI::App& command) {
  std::istringstream lines(command.get_footer());
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t begin = line.find_first_not_of(' ');
    if (begin != line.npos && begin > 0) {
      text += ".PP\n.EX\n" + roff(line.substr(begin)) + "\n.EE\n";
    } else if (begin != line.npos) {
      text += ".PP\n" + roff(line) + "\n";
    }
  }
  return text;
}

/// What the program does, without its name and the full stop, as the list of all pages shows it.
std::string purpose(const CLI::App& program) {
  std::string text = program.get_description();
  if (text.starts_with(program.get_name() + " ")) {
    text.erase(0, program.get_name().size() + 1);
  }
  if (text.ends_with('.')) {
    text.pop_back();
  }
  return text;
}

std::string synopsis(const CLI::App& program, const CLI::App& command) {
  std::string text = fmt::format(".B {} {}\n", roff(program.get_name()), roff(command.get_name()));
  for (const OptionWords& option : options_of(command)) {
    if (option.is_positional) {
      text += fmt::format("{}\\fI{}\\fR{}\n", option.is_required ? "" : "[", roff(option.names.front()),
                          option.is_required ? "" : "]");
    }
  }
  return text + "[\\fIoptions\\fR]\n.br\n";
}

}  // namespace

std::string man_page(const CLI::App& program, const std::string& version) {
  const std::string& name = program.get_name();
  std::string text = fmt::format(".TH {} 1 \"\" \"{} {}\" \"User Commands\"\n", capitals(name), name, version);
  text += fmt::format(".SH NAME\n{} \\- {}\n.SH SYNOPSIS\n", name, roff(purpose(program)));
  for (const CLI::App* const command : commands_of(program)) {
    text += synopsis(program, *command);
  }
  text += ".SH OPTIONS\n";
  for (const OptionWords& option : options_of(program)) {
    text += entry(option);
  }
  text += ".SH COMMANDS\n";
  for (const CLI::App* const command : commands_of(program)) {
    text += fmt::format(".SS {} {}\n{}\n", roff(name), roff(command->get_name()), roff(command->get_description()));
    for (const OptionWords& option : options_of(*command)) {
      text += entry(option);
    }
    text += example(*command);
  }
  std::string status = program.get_footer();
  constexpr std::string_view heading = "Exit status: ";
  if (status.starts_with(heading)) {
    status.erase(0, heading.size());
  }
  return text + ".SH EXIT STATUS\n" + roff(status) + "\n";
}

}  // namespace esc
