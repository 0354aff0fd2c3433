// SPDX-License-Identifier: Apache-2.0
#include "generator/support/made_once.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

namespace esc {
namespace {

TEST(MadeOnce, MakesEachValueOnceHoweverManyAsk) {
  MadeOnce<int, int> squares;
  std::atomic<int> made = 0;
  const auto ask = [&] {
    for (int key = 0; key < 100; ++key) {
      EXPECT_EQ(squares.get(key, [&] { return ++made, key * key; }), key * key);
    }
  };
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back(ask);
    }
  }
  EXPECT_EQ(made, 100);
  EXPECT_TRUE(squares.has(99));
  EXPECT_FALSE(squares.has(100));
}

TEST(MadeOnce, KeepsNothingOfWhatFails) {
  MadeOnce<int, int> values;
  EXPECT_THROW(values.get(1, []() -> int { throw std::runtime_error("no"); }), std::runtime_error);
  EXPECT_FALSE(values.has(1));
  EXPECT_EQ(values.get(1, [] { return 2; }), 2);
}

}  // namespace
}  // namespace esc
