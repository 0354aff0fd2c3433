// SPDX-License-Identifier: Apache-2.0
#include "generator/confine/memory_watch.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <string>

#include "generator/support/error.h"
#include "generator/support/machine_limits.h"

namespace esc {
namespace {

constexpr std::chrono::milliseconds between_looks{10};

using SizesFile = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

/// What the system says of a process's sizes; not buffered, so that it says it anew each time.
SizesFile open_sizes(const std::string& process) {
  SizesFile file(std::fopen(fmt::format("/proc/{}/statm", process).c_str(), "re"), std::fclose);
  if (!file) {
    const int error = errno;
    const bool is_absent = error == ENOENT || error == ENOTDIR || error == EACCES || error == EPERM;
    throw UserError(
        "this machine",
        fmt::format("does not tell the size of processes in /proc/{}/statm: {}", process, std::strerror(error)),
        is_absent ? "mount /proc: texts are run only where their memory can be bounded" : remedy_for(error),
        ExitStatus::missing_tool);
  }
  std::setvbuf(file.get(), nullptr, _IONBF, 0);
  return file;
}

/// Pages in memory; none of a process that has ended.
std::uint64_t resident_pages(std::FILE* sizes) {
  unsigned long mapped = 0;
  unsigned long resident = 0;
  std::rewind(sizes);
  return std::fscanf(sizes, "%lu %lu", &mapped, &resident) == 2 ? resident : 0;
}

}  // namespace

MemoryWatch::MemoryWatch(pid_t process, pid_t copied, std::uint64_t bytes)
    : process_(process),
      most_pages_(resident_pages(open_sizes(std::to_string(copied)).get()) +
                  bytes / static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE))),
      sizes_(open_sizes(std::to_string(process))),
      thread_([this](const std::stop_token& stopped) { look(stopped); }) {}

MemoryWatch::~MemoryWatch() = default;

void MemoryWatch::look(const std::stop_token& stopped) {
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable_any sleep;
  while (!sleep.wait_for(lock, stopped, between_looks, [&] { return stopped.stop_requested(); })) {
    if (resident_pages(sizes_.get()) > most_pages_) {
      killed_ = true;
      kill(process_, SIGKILL);
      return;
    }
  }
}

}  // namespace esc
