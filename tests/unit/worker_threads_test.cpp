// SPDX-License-Identifier: Apache-2.0
#include "generator/commands/worker_threads.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <new>
#include <stdexcept>
#include <vector>

#include "generator/commands/layer_memory.h"
#include "generator/commands/turns.h"

namespace esc {
namespace {

TEST(WorkerThreads, DoEachPieceOfWorkOnce) {
  for (const int jobs : {1, 2, 7}) {
    std::vector<std::atomic<int>> done(100);
    in_worker_threads(done.size(), jobs, [&](std::size_t number) { ++done[number]; });
    for (const std::atomic<int>& count : done) {
      EXPECT_EQ(count, 1) << jobs;
    }
  }
  in_worker_threads(0, 3, [](std::size_t) { FAIL() << "there is no work"; });
}

TEST(WorkerThreads, BeginNothingMoreWhereOneHasFailed) {
  std::atomic<std::size_t> begun = 0;
  const auto work = [&](std::size_t number) {
    ++begun;
    if (number == 3) {
      throw std::runtime_error("the fourth");
    }
  };
  try {
    in_worker_threads(1000, 1, work);
    FAIL() << "nothing was thrown";
  } catch (const std::runtime_error& problem) {
    EXPECT_STREQ(problem.what(), "the fourth");
  }
  EXPECT_EQ(begun, 4U);
  EXPECT_THROW(in_worker_threads(1000, 4, work), std::runtime_error);
}

TEST(Turns, ComeInOrder) {
  Turns turns(100);
  std::vector<std::size_t> order;
  in_worker_threads(100, 7, [&](std::size_t number) {
    Turns::Turn turn(turns, number);
    if (number % 10 == 3) {
      return;  // its turn is over, though it has not had it
    }
    turn.wait();
    order.push_back(number);
  });
  EXPECT_EQ(order.size(), 90U);
  EXPECT_TRUE(std::ranges::is_sorted(order));
}

/// Wherever a piece of work fails, those that wait for it go on.
TEST(Turns, AreOverHoweverTheWorkEnds) {
  for (const bool has_waited : {false, true}) {
    Turns turns(4);
    EXPECT_THROW(in_worker_threads(4, 4,
                                   [&](std::size_t number) {
                                     Turns::Turn turn(turns, number);
                                     if (has_waited) {
                                       turn.wait();
                                     }
                                     if (number == 1) {
                                       throw std::bad_alloc();
                                     }
                                     turn.wait();
                                   }),
                 std::bad_alloc);
  }
}

/// A layer that alone takes more than there is has its turn when all before it are done, and what is after it
/// waits.
TEST(LayerMemory, HasRoomForEveryLayerInTurn) {
  constexpr std::int64_t too_many = std::int64_t{1} << 34;
  constexpr std::int64_t some = std::int64_t{1} << 26;  // two of these fit
  LayerMemory memory(24);
  std::mutex mutex;
  std::int64_t in_work = 0;
  int reserved = 0;
  in_worker_threads(24, 6, [&](std::size_t number) {
    LayerMemory::Layer layer(memory, number);
    if (number % 5 == 4) {
      return;  // left out
    }
    const std::int64_t nonzeros = number % 3 == 0 ? too_many : some;
    layer.reserve(nonzeros);
    {
      const std::lock_guard lock(mutex);
      in_work += nonzeros;
      // Beside one that is too large there is what came before it was the first.
      EXPECT_LE(in_work, too_many + 2 * some) << number;
      ++reserved;
    }
    const std::lock_guard lock(mutex);
    in_work -= nonzeros;
  });
  EXPECT_EQ(reserved, 20);
}

}  // namespace
}  // namespace esc
