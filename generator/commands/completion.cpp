// SPDX-License-Identifier: Apache-2.0
#include "generator/commands/completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "generator/commands/option_words.h"
#include "generator/support/replace_all.h"

namespace esc {
namespace {

/// A word in single quotes of a shell.
std::string quoted(const std::string& text) { return "'" + replace_all(text, "'", "'\\''") + "'"; }

/// The names of a command's options and those that all commands have.
std::vector<std::string> option_names(const CLI::App& program, const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* const app : {&command, &program}) {
    for (const OptionWords& option : options_of(*app)) {
      // --version is the program's alone, and both have --help.
      const bool is_again = app == &program && (option.names.back() == "--help" || option.names.back() == "--version");
      if (!option.is_positional && !is_again) {
        names.insert(names.end(), option.names.begin(), option.names.end());
      }
    }
  }
  return names;
}

/// "--layout|--device": options after whose names a value follows, with few values or without.
std::string cases_of(const OptionWords& option) { return fmt::format("{}", fmt::join(option.names, "|")); }

std::string bash_case(const CLI::App& program, const CLI::App& command) {
  std::string text = fmt::format("    {})\n      case $previous in\n", command.get_name());
  std::string others;
  for (const OptionWords& option : options_of(command)) {
    if (option.is_positional || option.value.empty()) {
      continue;
    }
    if (option.values.empty()) {
      others += (others.empty() ? "" : "|") + cases_of(option);
    } else {
      text += fmt::format("        {}) COMPREPLY=($(compgen -W '{}' -- \"$current\")); return ;;\n", cases_of(option),
                          fmt::join(option.values, " "));
    }
  }
  if (!others.empty()) {
    text += fmt::format("        {}) return ;;\n", others);
  }
  text += "      esac\n";
  for (const OptionWords& option : options_of(command)) {
    if (option.is_positional && !option.values.empty()) {
      text += fmt::format("      [[ $current != -* ]] && COMPREPLY=($(compgen -W '{}' -- \"$current\"))\n",
                          fmt::join(option.values, " "));
    }
  }
  return text + fmt::format("      options='{}' ;;\n", fmt::join(option_names(program, command), " "));
}

/// What is in brackets and quotes of _arguments.
std::string zsh_words(std::string text) {
  for (const char* const special : {"\\", "[", "]", ":"}) {
    text = replace_all(text, special, std::string("\\") + special);
  }
  return text;
}

std::string zsh_action(const OptionWords& option) {
  return option.values.empty() ? "_files" : fmt::format("({})", fmt::join(option.values, " "));
}

std::string zsh_option(const OptionWords& option) {
  if (option.is_positional) {
    return quoted(fmt::format("*:{}:{}", zsh_words(option.names.front()), zsh_action(option)));
  }
  const std::string value =
      option.value.empty() ? "" : fmt::format(":{}:{}", zsh_words(option.value), zsh_action(option));
  std::string text;
  for (const std::string& name : option.names) {
    text += (text.empty() ? "" : " ") + quoted(fmt::format("*{}[{}]{}", name, zsh_words(option.description), value));
  }
  return text;
}

std::string zsh_options(const CLI::App& program, const CLI::App& command) {
  std::string text;
  for (const CLI::App* const app : {&command, &program}) {
    for (const OptionWords& option : options_of(*app)) {
      if (app == &command || (option.names.back() != "--help" && option.names.back() != "--version")) {
        text += " \\\n        " + zsh_option(option);
      }
    }
  }
  return text;
}

}  // namespace

std::string bash_completion(const CLI::App& program) {
  const std::string name = program.get_name();
  std::vector<std::string> commands;
  std::string cases;
  for (const CLI::App* const command : commands_of(program)) {
    commands.push_back(command->get_name());
    cases += bash_case(program, *command);
  }
  std::vector<std::string> options;
  for (const OptionWords& option : options_of(program)) {
    options.insert(options.end(), option.names.begin(), option.names.end());
  }
  return fmt::format(R"(# Completes {0} in bash: source it, or write it to a folder of bash-completion.
_{0}() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} command= options= word
  COMPREPLY=()
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case $word in
      {1}) command=$word; break ;;
    esac
  done
  case $command in
    '') options='{2} {3}' ;;
{4}  esac
  if [[ -z $command || $current == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$current"))
  fi
}}
complete -o bashdefault -o default -F _{0} {0}
)",
                     name, fmt::join(commands, "|"), fmt::join(commands, " "), fmt::join(options, " "), cases);
}

std::string zsh_completion(const CLI::App& program) {
  const std::string name = program.get_name();
  std::string commands;
  std::string cases;
  for (const CLI::App* const command : commands_of(program)) {
    commands += "\n    " + quoted(command->get_name() + ":" + zsh_words(command->get_description()));
    cases += fmt::format("      {})\n        _arguments{} ;;\n", command->get_name(), zsh_options(program, *command));
  }
  std::string options;
  for (const OptionWords& option : options_of(program)) {
    options += " \\\n    " + zsh_option(option);
  }
  return fmt::format(R"(#compdef {0}
# Completes {0} in zsh: write it as _{0} to a folder of fpath.
_{0}() {{
  local state line
  local -a commands=({1}
  )
  _arguments -C{2} \
    '1:command:->command' '*::argument:->argument'
  case $state in
    command) _describe command commands ;;
    argument)
      case $line[1] in
{3}      esac ;;
  esac
}}
_{0} "$@"
)",
                     name, commands, options, cases);
}

}  // namespace esc
