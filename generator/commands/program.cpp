#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <exception>

#include "generator/commands/command.h"
#include "generator/emit/layer.h"

namespace esc {

CLI::App* add_command(CLI::App& program, const std::string& name, const std::string& description,
                      const std::string& example) {
  CLI::App* command = program.add_subcommand(name, description);
  command->footer("Example:\n  " + example);
  command->fallthrough();
  return command;
}

std::string whole_number_problem(const std::string& text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole ? "" : "'" + text + "' is not a whole number from 0 to 2^64 - 1";
}

namespace {

/// A wrong command line, in one line that says where to read on.
UserError usage_error(const CLI::App& program, const std::string& problem) {
  const auto commands = program.get_subcommands();
  return {
      "", problem,
      fmt::format("see {} {}--help", program.get_name(), commands.empty() ? "" : commands.front()->get_name() + " ")};
}

/// "generate, verify, inspect, lower or sample".
std::string names_of_commands(const CLI::App& program) {
  const auto commands = program.get_subcommands({});
  std::string names;
  for (std::size_t number = 0; number < commands.size(); ++number) {
    names += (number == 0 ? "" : number + 1 == commands.size() ? " or " : ", ") + commands[number]->get_name();
  }
  return names;
}

/// Results that cannot be written, to a full disk for example, are an error like any other.
void flush_results() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    throw UserError("standard output", "cannot be written", "free some space, or write it elsewhere");
  }
}

ExitStatus run(int argc, char** argv, const ProgramText& text) {
  CLI::App program(text.description, text.name);
  program.set_version_flag("--version", text.name + " " + tool_version);
  program.footer(
      "Exit status: 0 done, 1 a check failed, 2 bad usage or input, 3 something is missing on this machine, "
      "70 a defect of " +
      text.name + ".");
  CommonOptions common{.program = text.name, .arguments = {argv + 1, argv + argc}};
  program.add_flag("-q,--quiet", common.quiet, "Say nothing on standard error but errors");
  program.add_flag("-v,--verbose", common.verbose, "Say more on standard error");
  Action action;
  for (const AddCommand add : text.commands) {
    add(program, common, action);
  }
  try {
    program.parse(argc, argv);
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
  const ExitStatus status = action();
  flush_results();
  return status;
}

}  // namespace

int run_program(int argc, char** argv, const ProgramText& text) {
  // A limit on the size of files shall make writing fail, with its message and cleaning up, not end the program.
  std::signal(SIGXFSZ, SIG_IGN);
  ExitStatus status = ExitStatus::defect;
  try {
    status = run(argc, argv, text);
  } catch (const UserError& problem) {
    fmt::print(stderr, "{}: {}\n", text.name, problem.what());
    status = problem.status();
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "{}: there is not enough memory for this matrix\n", text.name);
    status = ExitStatus::missing_tool;
  } catch (const std::exception& problem) {
    fmt::print(stderr, "{}: a defect of this program: {}\n", text.name, problem.what());
  }
  return static_cast<int>(status);
}

}  // namespace esc
