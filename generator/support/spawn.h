// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "generator/support/deadline.h"

namespace esc {

/// What a process is started with beside its arguments.
struct SpawnOptions {
  std::filesystem::path folder = {};                  ///< its working directory; empty: this program's
  std::vector<std::string> environment = {};          ///< NAME=value, in place of or beside this program's own
  std::vector<std::pair<int, int>> descriptors = {};  ///< each first one becomes its second one there
  bool own_group = false;                             ///< whether it is spared the signals of this program's terminal
};

/// Starts a program without a shell: the first argument is the program, a path or a name on the PATH. Throws UserError
/// (status missing_tool) when it cannot be started.
pid_t spawn(const std::vector<std::string>& arguments, const SpawnOptions& options);

/// Waits for the end of a process; its exit status, 128 + signal when a signal ended it.
int wait_for_end(pid_t process);

/// Whether a process ends by the deadline; its end is still to be waited for. Without a deadline that is not asked.
bool ends_by(pid_t process, const std::optional<Deadline>& deadline);

}  // namespace esc
