// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "tuner/build/kernel_text.h"
#include "tuner/process/worker_process.h"

namespace esc::tuning {

/// How many threads, or processes, of this host should prepare candidates; the others measure and judge.
int preparing_threads();

/// Processes that build device texts with NVRTC, which builds one text at a time in a process, however many threads ask
/// it to: with the pool as many are built at once as it has processes. A text on which NVRTC crashes or never ends
/// takes one process along, which is replaced, not the program.
class BuildPool {
 public:
  /// `worker` starts a process that builds; processes are started when they are first needed.
  BuildPool(WorkerCommand worker, int processes, std::chrono::milliseconds patience = std::chrono::minutes(2));

  /// Builds in the first process that is free. Safe to call in parallel. Throws BuildError.
  Cubin build(const KernelText& text);

 private:
  std::unique_ptr<WorkerProcess> take();
  void give_back(std::unique_ptr<WorkerProcess> worker);

  WorkerCommand command_;
  std::chrono::milliseconds patience_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::unique_ptr<WorkerProcess>> idle_;
  int may_start_;
};

/// The life of a building process: builds with `builder` what is asked for at the socket until its other end is closed.
void serve_builds(int socket, const Builder& builder);

}  // namespace esc::tuning
