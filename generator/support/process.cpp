#include "generator/support/process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>
#include <system_error>

#include "generator/support/error.h"

extern char** environ;

namespace esc {
namespace {

/// A pipe whose ends are closed with it.
class Pipe {
 public:
  Pipe() { ESC_CHECK(pipe2(ends_.data(), O_CLOEXEC) == 0, "a pipe can be made"); }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    close_end(0);
    close_end(1);
  }

  int reading_end() const { return ends_[0]; }
  int writing_end() const { return ends_[1]; }
  void close_writing_end() { close_end(1); }

 private:
  void close_end(std::size_t end) {
    if (ends_[end] >= 0) {
      close(ends_[end]);
    }
    ends_[end] = -1;
  }

  std::array<int, 2> ends_ = {-1, -1};
};

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

/// Appends what is there to read; false at the end.
bool read_some(int descriptor, std::string& text) {
  std::array<char, 4096> buffer;
  const ssize_t count = read(descriptor, buffer.data(), buffer.size());
  if (count > 0) {
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return count > 0 || (count < 0 && errno == EINTR);
}

/// Reads both to their ends, as they come, so that neither pipe fills up.
void read_to_ends(int output, int errors, ProcessResult& result) {
  std::array<pollfd, 2> open = {{{output, POLLIN, 0}, {errors, POLLIN, 0}}};
  const std::array<std::string*, 2> texts = {&result.output, &result.errors};
  while (open[0].fd >= 0 || open[1].fd >= 0) {
    if (poll(open.data(), open.size(), -1) < 0) {
      ESC_CHECK(errno == EINTR, "pipes can be waited for");
      continue;
    }
    for (std::size_t at = 0; at < open.size(); ++at) {
      if (open[at].fd >= 0 && open[at].revents != 0 && !read_some(open[at].fd, *texts[at])) {
        open[at].fd = -1;
      }
    }
  }
}

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

ProcessResult run_process(const std::vector<std::string>& arguments, const ProcessOptions& options) {
  Pipe output;
  Pipe errors;
  SpawnActions actions;
  actions.redirect(output.writing_end(), STDOUT_FILENO);
  actions.redirect((options.errors_apart ? errors : output).writing_end(), STDERR_FILENO);
  if (!options.folder.empty()) {
    actions.change_folder(options.folder);
  }
  const std::vector<std::string> environment = environment_with(options.environment);
  pid_t child = 0;
  const int error = posix_spawnp(&child, arguments.at(0).c_str(), actions.get(), nullptr, pointers_to(arguments).data(),
                                 pointers_to(environment).data());
  if (error != 0) {
    throw UserError(arguments[0], "cannot be started: " + std::generic_category().message(error), {},
                    ExitStatus::missing_tool);
  }
  output.close_writing_end();
  errors.close_writing_end();

  ProcessResult result;
  read_to_ends(output.reading_end(), errors.reading_end(), result);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

}  // namespace esc
