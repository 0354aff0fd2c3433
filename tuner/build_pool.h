#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

#include "tuner/rtc_build.h"

namespace esc::gpu {

/// Processes that build device texts. NVRTC builds one text at a time in a process, however many threads ask it to;
/// with the pool as many are built at once as it has processes. A text on which NVRTC crashes takes one process along,
/// not the program.
class BuildPool {
 public:
  /// Starts the processes as copies of this one, which therefore must have no other thread yet and not use the device
  /// yet. Throws Defect when the system refuses.
  explicit BuildPool(int processes);
  BuildPool(const BuildPool&) = delete;
  BuildPool& operator=(const BuildPool&) = delete;
  /// Ends the processes; nobody may be building.
  ~BuildPool();

  /// As gpu::build, in the first process that is free. Safe to call in parallel.
  Cubin build(const std::string& text, const std::vector<std::string>& kernels, int architecture);

 private:
  struct Worker {
    pid_t process = -1;
    int socket = -1;
  };
  Worker take();
  void give_back(Worker worker);
  void end(Worker worker) noexcept;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Worker> free_;
  int alive_ = 0;
};

}  // namespace esc::gpu
