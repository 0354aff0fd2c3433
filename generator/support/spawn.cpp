// SPDX-License-Identifier: Apache-2.0
#include "generator/support/spawn.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <string_view>
#include <system_error>
#include <thread>

#include "generator/support/error.h"

extern char** environ;

namespace esc {
namespace {

/// What a process is started with beside its arguments.
class SpawnActions {
 public:
  SpawnActions() { posix_spawn_file_actions_init(&actions_); }
  SpawnActions(const SpawnActions&) = delete;
  SpawnActions& operator=(const SpawnActions&) = delete;
  ~SpawnActions() { posix_spawn_file_actions_destroy(&actions_); }

  void redirect(int from, int to) { posix_spawn_file_actions_adddup2(&actions_, from, to); }
  void change_folder(const std::filesystem::path& folder) {
    posix_spawn_file_actions_addchdir_np(&actions_, folder.c_str());
  }
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

/// Attributes of a process that is started.
class SpawnAttributes {
 public:
  SpawnAttributes() {
    posix_spawnattr_init(&attributes_);
    // This program ignores it; others rely on being ended by it.
    sigset_t by_default;
    sigemptyset(&by_default);
    sigaddset(&by_default, SIGPIPE);
    posix_spawnattr_setsigdefault(&attributes_, &by_default);
    posix_spawnattr_setflags(&attributes_, flags_);
  }
  SpawnAttributes(const SpawnAttributes&) = delete;
  SpawnAttributes& operator=(const SpawnAttributes&) = delete;
  ~SpawnAttributes() { posix_spawnattr_destroy(&attributes_); }

  void begin_group() {
    flags_ |= POSIX_SPAWN_SETPGROUP;
    posix_spawnattr_setflags(&attributes_, flags_);
  }
  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_;
  short flags_ = POSIX_SPAWN_SETSIGDEF;
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

}  // namespace

pid_t spawn(const std::vector<std::string>& arguments, const SpawnOptions& options) {
  SpawnActions actions;
  for (const auto& [from, to] : options.descriptors) {
    actions.redirect(from, to);
  }
  if (!options.folder.empty()) {
    actions.change_folder(options.folder);
  }
  SpawnAttributes attributes;
  if (options.own_group) {
    attributes.begin_group();
  }
  const std::vector<std::string> environment = environment_with(options.environment);
  pid_t child = 0;
  const int error = posix_spawnp(&child, arguments.at(0).c_str(), actions.get(), attributes.get(),
                                 pointers_to(arguments).data(), pointers_to(environment).data());
  if (error != 0) {
    throw UserError(arguments[0], "cannot be started: " + std::generic_category().message(error), {},
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
