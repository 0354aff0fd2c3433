// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <thread>

namespace esc {

/// Looks every few milliseconds at how much memory a process has touched, and kills it where that is too much. Other
/// limits bound what a process maps, not what it uses of that.
class MemoryWatch {
 public:
  /// `process` is a child that has just been made as a copy of another one and may touch so many bytes beside those
  /// that this one has. This must end before the child is waited for, because its number may then be another's.
  MemoryWatch(pid_t process, pid_t copied, std::uint64_t bytes);
  MemoryWatch(const MemoryWatch&) = delete;
  MemoryWatch& operator=(const MemoryWatch&) = delete;
  /// Ends the watch.
  ~MemoryWatch();

  bool has_killed() const { return killed_; }

 private:
  void look(const std::stop_token& stopped);

  pid_t process_;
  std::uint64_t most_pages_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> sizes_;
  std::atomic<bool> killed_ = false;
  std::jthread thread_;
};

}  // namespace esc
