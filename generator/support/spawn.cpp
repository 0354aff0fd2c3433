// SPDX-License-Identifier: Apache-2.0
#include "generator/support/spawn.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "generator/support/error.h"

extern char** environ;

namespace esc {
namespace {

/// Holds all signals back from this thread as long as it lives.
class SignalsHeld {
 public:
  SignalsHeld() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;
  ~SignalsHeld() { let_go(); }

  void let_go() const { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

/// Pointers to the texts, ended by null.
std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) {
    pointers.push_back(const_cast<char*>(text.c_str()));
  }
  pointers.push_back(nullptr);
  return pointers;
}

/// This program's environment with some variables replaced or added.
std::vector<std::string> environment_with(const std::vector<std::string>& changes) {
  std::vector<std::string> environment = changes;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const std::string_view assignment = text.substr(0, text.find('=') + 1);
    bool changed = false;
    for (const std::string& change : changes) {
      changed = changed || change.starts_with(assignment);
    }
    if (!changed) {
      environment.emplace_back(text);
    }
  }
  return environment;
}

/// Signals do what they do by default where this program has a handler, which is not the new process's. This program
/// ignores SIGPIPE; others rely on being ended by it.
void reset_signals() {
  for (int number = 1; number < NSIG; ++number) {
    struct sigaction action{};
    if (sigaction(number, nullptr, &action) == 0 && (number == SIGPIPE || action.sa_handler != SIG_IGN)) {
      signal(number, SIG_DFL);
    }
  }
}

/// The second descriptor becomes what the first one is, and stays open in the program.
bool redirect(int from, int to) { return from == to ? fcntl(from, F_SETFD, 0) == 0 : dup2(from, to) >= 0; }

/// Makes the new process the program; returns only where that fails, with errno. The process has the memory of this
/// one, which waits: it calls the system, and changes nothing.
void become(char* const* arguments, char* const* environment, const SpawnOptions& options, const SignalsHeld& signals) {
  reset_signals();
  if (options.own_group && setpgid(0, 0) != 0) {
    return;
  }
  for (const auto& [from, to] : options.descriptors) {
    if (!redirect(from, to)) {
      return;
    }
  }
  if (!options.folder.empty() && chdir(options.folder.c_str()) != 0) {
    return;
  }
  signals.let_go();
  execvpe(arguments[0], arguments, environment);
}

/// The new process and 0, or the error with which it could not become the program. posix_spawn would do, but could not
/// change the folder with C libraries older than 2.29.
std::pair<pid_t, int> start(char* const* arguments, char* const* environment, const SpawnOptions& options) {
  const SignalsHeld signals;
  volatile int error = 0;
  const pid_t child = vfork();
  if (child == 0) {
    become(arguments, environment, options, signals);
    error = errno;
    _exit(127);
  }
  if (child < 0) {
    return {child, errno};
  }
  if (error != 0) {
    wait_for_end(child);
  }
  return {child, error};
}

}  // namespace

pid_t spawn(const std::vector<std::string>& arguments, const SpawnOptions& options) {
  const std::vector<std::string> environment = environment_with(options.environment);
  const auto [child, error] = start(pointers_to(arguments).data(), pointers_to(environment).data(), options);
  if (error != 0) {
    throw UserError(arguments.at(0), "cannot be started: " + std::generic_category().message(error), {},
                    ExitStatus::missing_tool);
  }
  return child;
}

int wait_for_end(pid_t process) {
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool ends_by(pid_t process, const std::optional<Deadline>& deadline) {
  siginfo_t end = {};
  while (deadline && waitid(P_PID, static_cast<id_t>(process), &end, WEXITED | WNOWAIT | WNOHANG) == 0 &&
         end.si_pid == 0) {
    if (has_passed(deadline)) {
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

}  // namespace esc
