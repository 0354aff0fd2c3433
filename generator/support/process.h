// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace esc {

/// How a program is run.
struct ProcessOptions {
  std::filesystem::path folder = {};          ///< its working directory; empty: this program's
  std::vector<std::string> environment = {};  ///< NAME=value, in place of or beside this program's own
  bool errors_apart = false;                  ///< whether standard error is kept apart from standard output
  bool own_group = false;                     ///< whether it is spared the signals of this program's terminal
  /// How long it may take. Then it is killed with all that it has started, for which it needs a group of its own.
  std::optional<std::chrono::milliseconds> patience = {};
};

/// How a program ended, with everything it wrote.
struct ProcessResult {
  int status = 0;          ///< exit status; 128 + signal when a signal ended it
  std::string output;      ///< standard output and, unless it is kept apart, standard error, as they came
  std::string errors;      ///< standard error that is kept apart
  bool timed_out = false;  ///< whether it was killed because it took too long
};

/// Runs a program to its end, without a shell: the first argument is the program, a path or a name on the PATH.
/// Throws UserError (status missing_tool) when it cannot be started.
ProcessResult run_process(const std::vector<std::string>& arguments, const ProcessOptions& options = {});

}  // namespace esc
