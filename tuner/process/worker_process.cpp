// SPDX-License-Identifier: Apache-2.0
#include "tuner/process/worker_process.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <thread>

#include "generator/support/error.h"
#include "generator/support/spawn.h"

namespace esc::tuning {
namespace {

constexpr std::chrono::milliseconds grace_of_the_dying(2000);

}  // namespace

WorkerProcess::WorkerProcess(const WorkerCommand& command) {
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    throw std::system_error(errno, std::generic_category(), "a socket for a worker cannot be made");
  }
  std::vector<std::string> arguments{command.program.string()};
  arguments.insert(arguments.end(), command.arguments.begin(), command.arguments.end());
  try {
    process_ = spawn(
        arguments, {.environment = command.environment, .descriptors = {{ends[1], worker_socket}}, .own_group = true});
  } catch (...) {
    ::close(ends[0]);
    ::close(ends[1]);
    throw;
  }
  ::close(ends[1]);
  socket_ = ends[0];
}

WorkerProcess::~WorkerProcess() {
  if (process_ >= 0) {
    static_cast<void>(end(std::chrono::milliseconds(0)));
  }
}

std::string WorkerProcess::end(std::chrono::milliseconds grace) {
  // One that ends by itself shall not be said to have been killed.
  static_cast<void>(ends_by(process_, std::chrono::steady_clock::now() + grace));
  // In this order, for it ends by itself, too, when the socket is closed.
  ::kill(process_, SIGKILL);
  ::close(socket_);
  const int status = wait_for_end(process_);
  process_ = -1;
  return status > 128 ? fmt::format("signal {}", status - 128) : fmt::format("status {}", status);
}

Answer WorkerProcess::ask(const Message& question, std::chrono::milliseconds patience) {
  ESC_CHECK(process_ >= 0, "the worker still runs");
  const Deadline deadline = std::chrono::steady_clock::now() + patience;
  const Reception taken = send(socket_, question, deadline);
  return taken == Reception::complete ? listen_until(deadline) : give_up(taken);
}

Answer WorkerProcess::listen(std::chrono::milliseconds patience) {
  return listen_until(std::chrono::steady_clock::now() + patience);
}

Answer WorkerProcess::listen_until(Deadline deadline) {
  Answer answer;
  answer.reception = receive(socket_, answer.message, deadline);
  return answer.reception == Reception::complete ? answer : give_up(answer.reception);
}

Answer WorkerProcess::give_up(Reception reception) {
  const auto grace = reception == Reception::closed ? grace_of_the_dying : std::chrono::milliseconds(0);
  return {.reception = reception, .message = {}, .end = end(grace)};
}

void end_with_parent() {
  // Not by a signal at the parent's death: that is sent when the thread that started this process ends, not the
  // process.
  std::thread([] {
    pollfd other_end{worker_socket, POLLRDHUP, 0};
    while (::poll(&other_end, 1, -1) < 0 && errno == EINTR) {
    }
    ::_exit(0);
  }).detach();
}

}  // namespace esc::tuning
