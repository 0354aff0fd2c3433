// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <vector>

namespace esc::tests {

/// How a job in a process of its own ended.
struct JobEnd {
  enum class How { returned, crashed, timed_out };
  How how = How::returned;
  int status = 0;  ///< what it returned, 0 to 255, or the number of the signal
};

/// Runs job(0) to job(count - 1), each in a forked child that is killed after `limit`, so many at once as there are
/// processors. What a job prints is lost. The caller must have no other threads. `done` is told of each end, in the
/// caller's process.
void run_forked(std::size_t count, std::chrono::seconds limit, const std::function<int(std::size_t)>& job,
                const std::function<void(std::size_t, const JobEnd&)>& done);

}  // namespace esc::tests
