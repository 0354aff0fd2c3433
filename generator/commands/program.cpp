// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include "generator/commands/build_info.h"
#include "generator/commands/command.h"
#include "generator/commands/describe_commands.h"
#include "generator/commands/help_page.h"
#include "generator/commands/option_words.h"
#include "generator/commands/thread_limit.h"
#include "generator/support/closest_word.h"
#include "generator/support/plain_text.h"
#include "generator/support/standard_streams.h"

namespace esc {
namespace {

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (true) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    if (end == text.npos) {
      return lines;
    }
    text.remove_prefix(end + 1);
  }
}

}  // namespace

CLI::App* add_command(CLI::App& program, const std::string& name, const std::string& description,
                      const std::string& examples, const std::vector<HelpList>& lists) {
  CLI::App* command = program.add_subcommand(name, description);
  std::string footer;
  for (const HelpList& list : lists) {
    footer += fmt::format("{}: {}\n", list.what, list.names);
  }
  footer += footer.empty() ? "" : "\n";
  footer += examples.find('\n') == examples.npos ? "Example:" : "Examples:";
  for (const std::string_view example : split_lines(examples)) {
    footer += fmt::format("\n  {}", example);
  }
  command->footer(footer);
  command->fallthrough();
  return command;
}

void put_under(CLI::App& command, const std::string& heading, const std::vector<std::string>& options) {
  for (const std::string& option : options) {
    command.get_option(option)->group(heading);
  }
}

std::string whole_number_problem(const std::string& text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole ? "" : "'" + text + "' is not a whole number from 0 to 2^64 - 1";
}

namespace {

/// What may have been meant by the first argument that is none: an option of the command or, before any, a
/// command.
std::string suggestion(const CLI::App& program) {
  const auto commands = program.get_subcommands();
  std::vector<std::string> known;
  const auto add_options = [&](const CLI::App& app) {
    for (const OptionWords& option : options_of(app)) {
      known.insert(known.end(), option.names.begin(), option.names.end());
    }
  };
  add_options(program);
  for (const CLI::App* const command : commands) {
    add_options(*command);
  }
  for (const std::string& argument : program.remaining(true)) {
    if (argument.starts_with('-')) {
      return did_you_mean(argument.substr(0, argument.find('=')), known);
    }
    if (commands.empty()) {
      std::vector<std::string> names;
      for (const CLI::App* const command : commands_of(program)) {
        names.push_back(command->get_name());
      }
      return did_you_mean(argument, names);
    }
  }
  return "";
}

/// A wrong command line, in one line that says what may have been meant and where to read on.
UserError usage_error(const CLI::App& program, const std::string& problem) {
  const auto commands = program.get_subcommands();
  return {"", problem,
          fmt::format("{}see {} {}--help", suggestion(program), program.get_name(),
                      commands.empty() ? "" : commands.front()->get_name() + " ")};
}

/// "generate, verify, inspect, lower or sample".
std::string names_of_commands(const CLI::App& program) {
  const std::vector<const CLI::App*> commands = commands_of(program);
  std::string names;
  for (std::size_t number = 0; number < commands.size(); ++number) {
    names += (number == 0 ? "" : number + 1 == commands.size() ? " or " : ", ") + commands[number]->get_name();
  }
  return names;
}

/// Results that cannot be written, to a full disk for example, are an error like any other. A reader that wants no more
/// of them ends this program as it ends others.
[[noreturn]] void refuse_results(int error) {
  if (error == EPIPE) {
    std::signal(SIGPIPE, SIG_DFL);
    std::raise(SIGPIPE);
  }
  throw UserError("standard output", "cannot be written: " + std::generic_category().message(error),
                  "free some space, or write it elsewhere");
}

void flush_results() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    refuse_results(errno);
  }
}

/// What the user gave, with today's names of options in place of old ones, which are said to be old.
std::vector<std::string> with_new_names(std::vector<std::string> arguments, const ProgramText& text) {
  const auto command = std::ranges::find_if(arguments, [](const std::string& one) { return !one.starts_with('-'); });
  const bool is_quiet =
      std::ranges::any_of(arguments, [](const std::string& one) { return one == "-q" || one == "--quiet"; });
  for (const RenamedOption& renamed : text.renamed) {
    if (command == arguments.end() || *command != renamed.command) {
      continue;
    }
    for (std::string& argument : arguments) {
      if (argument == renamed.old_name || argument.starts_with(renamed.old_name + "=")) {
        write_to_standard_error(is_quiet
                                    ? ""
                                    : fmt::format("{}: {} is an old name of {}; the next release does not read it\n",
                                                  text.name, renamed.old_name, renamed.name));
        argument = renamed.name + argument.substr(renamed.old_name.size());
      }
    }
  }
  return arguments;
}

ExitStatus run(int argc, char** argv, const ProgramText& text) {
  CLI::App program(text.description, text.name);
  program.formatter(std::make_shared<HelpPage>());
  program.set_version_flag("--version", build_info(text.name, text.llvm));
  program.footer(
      "Exit status: 0 done, 1 a check failed, 2 bad usage or input, 3 something is missing on this machine, "
      "70 a defect of " +
      text.name + ".");
  CommonOptions common{.program = text.name, .arguments = with_new_names({argv + 1, argv + argc}, text)};
  program.add_flag("-q,--quiet", common.quiet,
                   "Print errors and results only: no progress, no notes, no report of a bundle that "
                   "is written or passes");
  program.add_flag("-v,--verbose", common.verbose, "Say more on standard error");
  Action action;
  for (const AddCommand add : text.commands) {
    add(program, common, action);
  }
  add_describing_commands(program, common, action);
  try {
    program.parse(std::vector<std::string>(common.arguments.rbegin(), common.arguments.rend()));
  } catch (const CLI::ParseError& problem) {
    if (problem.get_exit_code() != static_cast<int>(CLI::ExitCodes::Success)) {
      throw usage_error(program, problem.what());
    }
    program.exit(problem);
    flush_results();
    return ExitStatus::done;
  }
  if (!action) {
    throw usage_error(program, "a command is needed: " + names_of_commands(program));
  }
  ExitStatus status = ExitStatus::done;
  try {
    status = action();
  } catch (const std::system_error& problem) {
    if (std::ferror(stdout) == 0) {
      throw;
    }
    refuse_results(problem.code().value());
  }
  flush_results();
  return status;
}

/// Whether it is how oneTBB says that the system gives it no thread: a runtime_error that has the error in its words
/// alone.
bool is_refused_thread(const std::exception& problem) {
  return dynamic_cast<const std::runtime_error*>(&problem) != nullptr &&
         std::string_view(problem.what()).find("pthread_") != std::string_view::npos;
}

/// The message of a problem that has reached the top, and the status that it ends the program with. Of several threads
/// that end at once, and of what goes wrong on the way out, only the first has a message.
ExitStatus say_problem(const std::string& program, const std::exception_ptr& exception) {
  static std::recursive_mutex mutex;  // even to put the message together may fail, which ends here again
  static bool is_said = false;
  const std::lock_guard lock(mutex);
  // Piece by piece: where memory has run out, no text can be put together.
  const auto say = [&](std::string_view what, const char* detail = "") {
    if (std::exchange(is_said, true)) {
      return;
    }
    for (const std::string_view piece :
         {std::string_view(program), std::string_view(": "), what, std::string_view(detail), std::string_view("\n")}) {
      write_to_standard_error(piece);
    }
  };
  try {
    std::rethrow_exception(exception);
  } catch (const UserError& problem) {
    say(plain_lines(problem.what()));
    return problem.status();
  } catch (const std::bad_alloc&) {
    say("there is not enough memory for this; give a smaller matrix or fewer columns, or a machine with more");
    return ExitStatus::missing_tool;
  } catch (const std::system_error& problem) {
    say("the system refuses what this needs: ", problem.what());
    return ExitStatus::missing_tool;
  } catch (const std::exception& problem) {
    if (is_refused_thread(problem)) {
      say("the system refuses what this needs: ", problem.what());
      return ExitStatus::missing_tool;
    }
    say("a defect of this program: ", problem.what());
  } catch (...) {
    say("a defect of this program: an exception of an unknown type");
  }
  return ExitStatus::defect;
}

/// The program's name, for what ends it without a way back.
std::string& name_of_program() {
  static std::string name;
  return name;
}

/// In place of std::abort: an exception that nobody can catch, out of a thread or through code that was compiled
/// without exceptions, has the message and the status that it would have had.
[[noreturn]] void end_uncaught() {
  const std::exception_ptr exception = std::current_exception();
  const ExitStatus status =
      exception
          ? say_problem(name_of_program(), exception)
          : say_problem(name_of_program(), std::make_exception_ptr(std::logic_error("std::terminate was called")));
  _exit(static_cast<int>(status));
}

}  // namespace

int run_program(int argc, char** argv, const ProgramText& text) {
  open_missing_standard_streams();
  // A limit on the size of files, or a reader of the progress who has gone, shall make writing fail, with its message
  // and cleaning up, not end the program.
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
  name_of_program() = text.name;
  std::set_terminate(end_uncaught);
  try {
    if (text.begin) {
      text.begin();
    }
    hold_to_startable_threads();
    return static_cast<int>(run(argc, argv, text));
  } catch (...) {
    return static_cast<int>(say_problem(text.name, std::current_exception()));
  }
}

}  // namespace esc
