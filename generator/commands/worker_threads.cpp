// SPDX-License-Identifier: Apache-2.0
#include "generator/commands/worker_threads.h"

#include <exception>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

#include "generator/commands/thread_limit.h"

namespace esc {
namespace {

class Workers {
 public:
  Workers(std::size_t count, const std::function<void(std::size_t)>& work) : count_(count), work_(work) {}

  void run(int threads) {
    {
      std::vector<std::jthread> others;
      try {
        for (int number = 1; number < threads; ++number) {
          others.emplace_back([this] { take_turns(); });
        }
      } catch (const std::system_error&) {
        // The machine has no more threads: those that there are do it.
      } catch (const std::bad_alloc&) {
        // Nor memory for one.
      }
      take_turns();
    }
    if (problem_) {
      std::rethrow_exception(problem_);
    }
  }

 private:
  void take_turns() {
    for (std::size_t number = next(); number < count_; number = next()) {
      try {
        work_(number);
      } catch (...) {
        const std::lock_guard lock(mutex_);
        problem_ = problem_ ? problem_ : std::current_exception();
      }
    }
  }

  std::size_t next() {
    const std::lock_guard lock(mutex_);
    return problem_ ? count_ : next_++;
  }

  std::size_t count_;
  const std::function<void(std::size_t)>& work_;
  std::mutex mutex_;  ///< guards what follows
  std::size_t next_ = 0;
  std::exception_ptr problem_;
};

}  // namespace

void in_worker_threads(std::size_t count, int jobs, const std::function<void(std::size_t number)>& work) {
  Workers(count, work).run(workers_for(jobs));
}

}  // namespace esc
