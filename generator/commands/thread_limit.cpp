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

// Where another thread has the lock of the allocator that GCC 12's address sanitizer brings, while a process is forked, that process waits for it for ever.
#ifdef ESC_SANITIZED
constexpr bool forks_alone = true;
#else
constexpr bool forks_alone = false;
#endif

/// How many of so many threads can run at once beside this one.
std::size_t startable(std::size_t wanted) {
  std::latch counted(1);
  std::vector<std::jthread> threads;
  threads.reserve(wanted);
  try {
    while (threads.size() < wanted) {
      threads.emplace_back([&counted] { counted.wait(); });
    }
  } catch (const std::system_error&) {
    // There are no more.
  }
  counted.count_down();
  return threads.size();
}

}  // namespace

int workers_for(int asked_for) { return forks_alone ? 1 : asked_for > 0 ? asked_for : tbb::info::default_concurrency(); }

void hold_to_startable_threads() {
  const auto wanted = static_cast<std::size_t>(tbb::info::default_concurrency());
  const std::size_t there = forks_alone ? 1 : 1 + startable(wanted - 1);
  if (there < wanted) {
    // In a place that is never given back: oneTBB starts the threads that it was denied when the limit goes.
    alignas(tbb::global_control) static std::byte place[sizeof(tbb::global_control)];
    new (place) tbb::global_control(tbb::global_control::max_allowed_parallelism, there);
  }
}

}  // namespace esc
