// SPDX-License-Identifier: Apache-2.0
// A worker that does to each question what its head says, for the tests of what may become of a worker.

#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <thread>

#include "tuner/build/build_pool.h"
#include "tuner/process/worker_process.h"

namespace {

using namespace esc::tuning;

[[noreturn]] void crash() {
  ::signal(SIGSEGV, SIG_DFL);
  ::raise(SIGSEGV);
  ::_exit(0);
}

[[noreturn]] void sleep_for_ever() {
  ::signal(SIGTERM, SIG_IGN);
  while (true) {
    std::this_thread::sleep_for(std::chrono::hours(1));
  }
}

/// The beginning of a message whose piece never comes.
void begin_a_message() {
  static_cast<void>(send(worker_socket, {.head = "first", .pieces = {"second"}}));
  constexpr std::uint64_t parts[] = {4, 0};
  static_cast<void>(::send(worker_socket, parts, sizeof parts[0] + 2, MSG_NOSIGNAL));
}

/// What is asked of the compiler is in the text.
Cubin build(const KernelText& text) {
  if (text.text == "crash") {
    crash();
  }
  if (text.text == "sleep") {
    sleep_for_ever();
  }
  if (text.text == "refuse") {
    throw BuildError("line 7 is wrong");
  }
  return {.image = {text.text.rbegin(), text.text.rend()}, .symbols = text.kernels};
}

/// False where nothing more is answered.
bool answer(const Message& question) {
  if (question.head == "echo") {
    return send(worker_socket, question);
  }
  if (question.head == "process") {
    return send(worker_socket, {.head = std::to_string(::getpid())});
  }
  if (question.head == "variable") {
    const char* value = ::getenv("ESC_TEST_VARIABLE");
    return send(worker_socket, {.head = value == nullptr ? "" : value});
  }
  if (question.head == "crash") {
    crash();
  }
  if (question.head == "sleep") {
    sleep_for_ever();
  }
  if (question.head == "status") {
    ::_exit(3);
  }
  if (question.head == "part") {
    begin_a_message();
    ::shutdown(worker_socket, SHUT_WR);
    sleep_for_ever();
  }
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string task = argc == 2 ? argv[1] : "";
  if (task == "deaf") {
    sleep_for_ever();
  }
  end_with_parent();
  if (task == "build") {
    serve_builds(worker_socket, build);
    return 0;
  }
  Message question;
  while (receive(worker_socket, question) == Reception::complete && answer(question)) {
  }
  return 0;
}
