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

namespace {

/// Runs the command line. Errors become one line on standard error and an exit status.
ExitStatus run(int argc, char** argv) {
  CLI::App program("escgen turns a pruned weight matrix into a CUDA SpMM kernel made for it.", "escgen");
  program.set_version_flag("--version", std::string("escgen ") + tool_version);
  program.require_subcommand(1);
  program.footer("Exit status: 0 done, 1 a check failed, 2 bad usage or input, 3 something is missing on this machine, "
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
    return program.exit(problem) == 0 ? ExitStatus::done : ExitStatus::bad_input;
  }
  return action();
}

}  // namespace
}  // namespace esc

int main(int argc, char** argv) {
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
