// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "tuner/process/message.h"

namespace esc::tuning {

/// How a worker is started.
struct WorkerCommand {
  std::filesystem::path program;
  std::vector<std::string> arguments = {};    ///< after the program's name
  std::vector<std::string> environment = {};  ///< NAME=value, in place of or beside this program's own
};

/// What came of a question to a worker.
struct Answer {
  Reception reception = Reception::closed;
  Message message = {};  ///< where the reception is complete
  std::string end = {};  ///< where it is not: how the process ended, "signal 11" or "status 3"
};

/// A process that answers questions, one after the other, over a socket. It is killed where it does not answer in time:
/// a kernel that loops for ever cannot be ended otherwise. It does not get the signals of a terminal, and ends when
/// this process does.
class WorkerProcess {
 public:
  /// Throws UserError (status missing_tool) when the program cannot be started.
  explicit WorkerProcess(const WorkerCommand& command);
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;
  /// Kills it, if it still runs.
  ~WorkerProcess();

  /// Sends a question and waits for the answer, both within that time. Where the answer does not come complete, the
  /// process has ended when this returns, and nothing more may be asked.
  Answer ask(const Message& question, std::chrono::milliseconds patience);
  /// Waits for what the process says by itself.
  Answer listen(std::chrono::milliseconds patience);

 private:
  Answer listen_until(Deadline deadline);
  /// Ends the process, from which no message has come.
  Answer give_up(Reception reception);
  std::string end(std::chrono::milliseconds grace);

  pid_t process_ = -1;
  int socket_ = -1;
};

/// The descriptor at which a worker finds its end of the socket.
constexpr int worker_socket = 3;

/// To be called first by a worker's main: makes it end with the process that has started it.
void end_with_parent();

}  // namespace esc::tuning
