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
  return {"", problem, fmt::format("see escgen {}--help", commands.empty() ? "" : commands.front()->get_name() + " ")};
}

/// Results that cannot be written, to a full disk for example, are an error like any other.
void flush_results() {
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    throw UserError("standard output", "cannot be written", "free some space, or write it elsewhere");
  }
}

/// Runs the command line. Errors become one line on standard error and an exit status.
ExitStatus run(int argc, char** argv) {
  CLI::App program("escgen turns a pruned weight matrix into a CUDA SpMM kernel made for it.", "escgen");
  program.set_version_flag("--version", std::string("escgen ") + tool_version);
  program.footer(
      "Exit status: 0 done, 1 a check failed, 2 bad usage or input, 3 something is missing on this machine, "
      "70 a defect of escgen.");
  CommonOptions common;
  program.add_flag("-q,--quiet", common.quiet, "Say nothing on standard error but errors");
  program.add_flag("-v,--verbose", common.verbose, "Say more on standard error");
  Action action;
  add_generate_command(program, common, action);
  add_lower_command(program, common, action);
  add_inspect_command(program, common, action);
  add_verify_command(program, common, action);
  add_sample_command(program, common, action);
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
    throw usage_error(program, "a command is needed: generate, verify, inspect, lower or sample");
  }
  const ExitStatus status = action();
  flush_results();
  return status;
}

}  // namespace
}  // namespace esc

int main(int argc, char** argv) {
  // A limit on the size of files shall make writing fail, with its message and cleaning up, not end the program.
  std::signal(SIGXFSZ, SIG_IGN);
  esc::ExitStatus status = esc::ExitStatus::defect;
  try {
    status = esc::run(argc, argv);
  } catch (const esc::UserError& problem) {
    fmt::print(stderr, "escgen: {}\n", problem.what());
    status = problem.status();
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "escgen: there is not enough memory for this matrix\n");
    status = esc::ExitStatus::missing_tool;
  } catch (const std::exception& problem) {
    fmt::print(stderr, "escgen: a defect of this program: {}\n", problem.what());
  }
  return static_cast<int>(status);
}
