#pragma once

#include <string>
#include <vector>

namespace esc {

/// How a program ended, with everything it wrote.
struct ProcessResult {
  int status = 0;      ///< exit status; 128 + signal when a signal ended it
  std::string output;  ///< standard output and standard error, as they came
};

/// Runs a program to its end, without a shell: the first argument is the program, a path or a name on the PATH.
/// Throws UserError (status missing_tool) when it cannot be started.
ProcessResult run_process(const std::vector<std::string>& arguments);

}  // namespace esc
