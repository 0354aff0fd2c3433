// SPDX-License-Identifier: Apache-2.0
#include "generator/commands/thread_limit.h"

#include <tbb/global_control.h>
#include <tbb/info.h>

#include <cstddef>
#include <latch>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

namespace esc {
namespace {

/// Lets threads go on that wait, however this ends.
class GoesOn {
 public:
  explicit GoesOn(std::latch& latch) : latch_(latch) {}
  GoesOn(const GoesOn&) = delete;
  GoesOn& operator=(const GoesOn&) = delete;
  ~GoesOn() { latch_.count_down(); }

 private:
  std::latch& latch_;
};

/// How many of so many threads can run at once beside this one.
std::size_t startable(std::size_t wanted) {
  std::latch counted(1);
  std::vector<std::jthread> threads;
  threads.reserve(wanted);
  const GoesOn goes_on(counted);  // after the threads, which are waited for
  try {
    while (threads.size() < wanted) {
      threads.emplace_back([&counted] { counted.wait(); });
    }
  } catch (const std::system_error&) {
    // There are no more.
  }
  return threads.size();
}

}  // namespace

int workers_for(int asked_for) { return asked_for > 0 ? asked_for : tbb::info::default_concurrency(); }

void hold_to_startable_threads() {
  const auto wanted = static_cast<std::size_t>(tbb::info::default_concurrency());
  const std::size_t there = 1 + startable(wanted - 1);
  if (there < wanted) {
    // In a place that is never given back: oneTBB starts the threads that it was denied when the limit goes.
    alignas(tbb::global_control) static std::byte place[sizeof(tbb::global_control)];
    new (place) tbb::global_control(tbb::global_control::max_allowed_parallelism, there);
  }
}

}  // namespace esc
