// SPDX-License-Identifier: Apache-2.0
// Every kind of input that comes from outside, against mutants of what is accepted and of what is refused: each is read
// or refused with reasons, in reasonable time.

#include "tests/fuzz/mutation.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <exception>
#include <iostream>
#include <string>

#include "tests/fuzz/harness.h"
#include "tests/support/run_size.h"

namespace esc::fuzz {
namespace {

using Clock = std::chrono::steady_clock;

/// A mutant of a small input; a machine that is busy with other things takes a while for it too.
constexpr std::chrono::seconds patience{20};

/// Whether the input is accepted; a failure of the test where it is neither that nor refused as it should be.
bool judge(const Harness& harness, const std::string& input) {
  const auto begin = Clock::now();
  bool accepted = false;
  try {
    accepted = harness.judge(input);
  } catch (const std::exception& problem) {
    ADD_FAILURE() << problem.what() << "\nfor " << testing::PrintToString(input);
  }
  EXPECT_LT(Clock::now() - begin, patience) << "for " << testing::PrintToString(input);
  return accepted;
}

class Mutants : public testing::TestWithParam<std::string> {};

TEST_P(Mutants, AreReadOrRefusedWithReasons) {
  const Harness& harness = harness_of(GetParam());
  const std::size_t count = tests::full_sweep() ? 75 * harness.mutants : tests::in_this_build(harness.mutants);
  Mutation mutation(harness, 1 + tests::seed_of_the_run());
  std::size_t accepted = 0;
  for (std::size_t number = 0; number < count && !HasFailure(); ++number) {
    accepted += judge(harness, mutation.next()) ? 1 : 0;
  }
  std::cout << fmt::format("{} of {} mutants are accepted\n", accepted, count);
  EXPECT_GE(accepted, count / 200) << "mutants that are nearly all refused reach nothing";
  EXPECT_GE(count - accepted, count / 200) << "mutants that are nearly all accepted break nothing";
}

TEST_P(Mutants, HaveSeedsThatAreAcceptedAndOthers) {
  const Harness& harness = harness_of(GetParam());
  for (const std::string& seed : harness.seeds) {
    EXPECT_TRUE(judge(harness, seed)) << seed;
  }
  for (const std::string& seed : harness.refused) {
    EXPECT_FALSE(judge(harness, seed)) << seed;
  }
}

std::vector<std::string> kinds() {
  std::vector<std::string> kinds;
  for (const Harness& harness : harnesses()) {
    kinds.push_back(harness.kind);
  }
  return kinds;
}

INSTANTIATE_TEST_SUITE_P(EveryKind, Mutants, testing::ValuesIn(kinds()),
                         [](const testing::TestParamInfo<std::string>& kind) { return kind.param; });

TEST(Mutation, IsTheSameFromANumber) {
  const Harness& harness = harness_of("schedule");
  Mutation one(harness, 7);
  Mutation other(harness, 7);
  for (int turn = 0; turn < 100; ++turn) {
    EXPECT_EQ(one.next(), other.next());
  }
}

TEST(Harness, FindsRefusalsThatLackSomething) {
  EXPECT_NO_THROW(expect_reasons(UserError("a.txt:1", "is wrong", "mend it"), Remedy::given));
  EXPECT_NO_THROW(expect_reasons(UserError("", "a.c:1:1: is wrong"), Remedy::implied));
  EXPECT_THROW(expect_reasons(UserError("", "is wrong", "mend it"), Remedy::given), Finding);
  EXPECT_THROW(expect_reasons(UserError("a.txt:1", "is wrong"), Remedy::given), Finding);
  EXPECT_THROW(expect_reasons(UserError("a.txt:1", "", "mend it"), Remedy::given), Finding);
  EXPECT_THROW(expect_reasons(UserError("a", "b", "c", ExitStatus::missing_tool), Remedy::given), Finding);
}

}  // namespace
}  // namespace esc::fuzz
