// SPDX-License-Identifier: Apache-2.0
#include "tests/support/forked_jobs.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <thread>

#include "generator/support/error.h"

namespace esc::tests {
namespace {

/// In the child: does the job and ends.
[[noreturn]] void live(std::chrono::seconds limit, std::size_t number, const std::function<int(std::size_t)>& job) {
  const int nowhere = open("/dev/null", O_RDWR);
  dup2(nowhere, STDOUT_FILENO);
  dup2(nowhere, STDERR_FILENO);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  // Time of the processor, as a machine may be busy, and several times as much by the clock.
  const auto seconds = static_cast<rlim_t>(limit.count());
  const rlimit processor{seconds, seconds + 1};
  setrlimit(RLIMIT_CPU, &processor);
  alarm(static_cast<unsigned>(10 * limit.count()));
  int status = 255;
  try {
    status = job(number);
  } catch (...) {
    status = 255;
  }
  _exit(status);
}

JobEnd end_of(int status) {
  if (WIFEXITED(status)) {
    return {JobEnd::How::returned, WEXITSTATUS(status)};
  }
  const int signal = WTERMSIG(status);
  return {signal == SIGXCPU || signal == SIGALRM || signal == SIGKILL ? JobEnd::How::timed_out : JobEnd::How::crashed,
          signal};
}

}  // namespace

void run_forked(std::size_t count, std::chrono::seconds limit, const std::function<int(std::size_t)>& job,
                const std::function<void(std::size_t, const JobEnd&)>& done) {
  const std::size_t at_once = std::max(1U, std::thread::hardware_concurrency());
  std::map<pid_t, std::size_t> running;
  for (std::size_t next = 0; next < count || !running.empty();) {
    if (next < count && running.size() < at_once) {
      const pid_t child = fork();
      ESC_CHECK(child >= 0, "a process can be forked");
      if (child == 0) {
        live(limit, next, job);
      }
      running.emplace(child, next++);
      continue;
    }
    int status = 0;
    const pid_t ended = waitpid(-1, &status, 0);
    if (const auto found = running.find(ended); found != running.end()) {
      done(found->second, end_of(status));
      running.erase(found);
    }
  }
}

}  // namespace esc::tests
