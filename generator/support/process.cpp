// SPDX-License-Identifier: Apache-2.0
#include "generator/support/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "generator/support/deadline.h"
#include "generator/support/error.h"
#include "generator/support/spawn.h"

namespace esc {
namespace {

/// A pipe whose ends are closed with it.
class Pipe {
 public:
  Pipe() {
    if (pipe2(ends_.data(), O_CLOEXEC) != 0) {
      throw std::system_error(errno, std::generic_category(), "a pipe cannot be made");
    }
  }
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

/// Appends what is there to read; false at the end.
bool read_some(int descriptor, std::string& text) {
  std::array<char, 4096> buffer;
  const ssize_t count = read(descriptor, buffer.data(), buffer.size());
  if (count > 0) {
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return count > 0 || (count < 0 && errno == EINTR);
}

/// Reads both to their ends, as they come, so that neither pipe fills up; false where the deadline passes before.
bool read_to_ends(int output, int errors, const std::optional<Deadline>& deadline, ProcessResult& result) {
  std::array<pollfd, 2> open = {{{output, POLLIN, 0}, {errors, POLLIN, 0}}};
  const std::array<std::string*, 2> texts = {&result.output, &result.errors};
  while (open[0].fd >= 0 || open[1].fd >= 0) {
    if (has_passed(deadline)) {
      return false;
    }
    if (poll(open.data(), open.size(), time_to_poll(deadline)) < 0) {
      ESC_CHECK(errno == EINTR, "pipes can be waited for");
      continue;
    }
    for (std::size_t at = 0; at < open.size(); ++at) {
      if (open[at].fd >= 0 && open[at].revents != 0 && !read_some(open[at].fd, *texts[at])) {
        open[at].fd = -1;
      }
    }
  }
  return true;
}

}  // namespace

ProcessResult run_process(const std::vector<std::string>& arguments, const ProcessOptions& options) {
  ESC_CHECK(!options.patience || options.own_group, "what may have to be killed has a group of its own");
  const std::optional<Deadline> deadline =
      options.patience ? std::optional(std::chrono::steady_clock::now() + *options.patience) : std::nullopt;
  Pipe output;
  Pipe errors;
  const pid_t child =
      spawn(arguments, {.folder = options.folder,
                        .environment = options.environment,
                        .descriptors = {{output.writing_end(), STDOUT_FILENO},
                                        {(options.errors_apart ? errors : output).writing_end(), STDERR_FILENO}},
                        .own_group = options.own_group});
  output.close_writing_end();
  errors.close_writing_end();

  ProcessResult result;
  result.timed_out =
      !read_to_ends(output.reading_end(), errors.reading_end(), deadline, result) || !ends_by(child, deadline);
  if (result.timed_out) {
    kill(-child, SIGKILL);
  }
  result.status = wait_for_end(child);
  return result;
}

}  // namespace esc
