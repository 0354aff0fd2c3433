#include "generator/commands/thread_limit.h"

#include <tbb/info.h>

#include <cstddef>
#include <latch>
#include <system_error>
#include <thread>
#include <vector>


namespace esc {
namespace {

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

ThreadLimit::ThreadLimit() {
  const auto wanted = static_cast<std::size_t>(tbb::info::default_concurrency());
  if (const std::size_t there = 1 + startable(wanted - 1); there < wanted) {
    limit_.emplace(tbb::global_control::max_allowed_parallelism, there);
  }
}

}  // namespace esc
