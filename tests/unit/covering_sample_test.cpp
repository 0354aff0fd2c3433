// SPDX-License-Identifier: Apache-2.0
#include "tests/support/covering_sample.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <tuple>

#include "tests/support/run_size.h"
#include "tests/support/schedule_part.h"

namespace esc::tests {
namespace {

using Pairs = std::set<std::tuple<std::size_t, int, std::size_t, int>>;

/// All pairs of values of two keys, those of a key with itself included, that come up.
Pairs pairs_in(const std::vector<ScheduleFor>& schedules) {
  Pairs pairs;
  for (const ScheduleFor& one : schedules) {
    const std::vector<int> keys = keys_of(one);
    for (std::size_t a = 0; a < keys.size(); ++a) {
      for (std::size_t b = a; b < keys.size(); ++b) {
        pairs.emplace(a, keys[a], b, keys[b]);
      }
    }
  }
  return pairs;
}

void expect_covers(const std::vector<ScheduleFor>& legal, std::size_t most) {
  if (const std::string why = why_not_ordinary(); !why.empty()) {
    GTEST_SKIP() << why;
  }
  const std::vector<ScheduleFor> part = ordinary_part(legal);
  EXPECT_EQ(pairs_in(part), pairs_in(legal));
  EXPECT_LE(part.size(), most);
}

TEST(OrdinaryPart, HoldsAllPairsOfParametersOfFamilyAtomic) { expect_covers(legal_atomic(), 155); }
TEST(OrdinaryPart, HoldsAllPairsOfParametersOfFamilyPanel) { expect_covers(legal_panel(), 120); }
TEST(OrdinaryPart, HoldsAllPairsOfParametersOfFamilyRows) { expect_covers(legal_rows(), 165); }

TEST(LegalAtomic, IsTheWholeSpaceForEveryBCol) {
  const std::vector<ScheduleFor> legal = legal_atomic();
  EXPECT_EQ(legal.size(), 8U * 16 * 4 * 8 * 2);
  std::set<std::int64_t> bcols;
  for (const ScheduleFor& one : legal) {
    check_legal(one.schedule, one.bcol);
    bcols.insert(one.bcol);
  }
  EXPECT_EQ(bcols.size(), 9U);
}

TEST(CoveringSample, TakesNothingFromNothingAndOneOfEquals) {
  EXPECT_TRUE(covering_sample({}).empty());
  EXPECT_EQ(covering_sample({{1, 2}, {1, 2}}).size(), 1U);
  EXPECT_EQ(covering_sample({{1, 2}, {3, 4}, {1, 4}, {3, 2}}).size(), 4U);
}

TEST(DrawnPart, HoldsTheOrdinaryPartAndForEachBColWhatIsAskedFor) {
  const std::vector<ScheduleFor> legal = legal_panel();
  const auto count = [](const std::vector<ScheduleFor>& part, std::int64_t bcol) {
    return std::ranges::count_if(part, [bcol](const ScheduleFor& one) { return one.bcol == bcol; });
  };
  const std::vector<ScheduleFor> ordinary = ordinary_part(legal);
  const auto wanted = [](std::int64_t bcol) { return bcol == 64 ? 240 : bcol == 128 ? all_of_them : 0; };
  const std::vector<ScheduleFor> part = drawn_part(legal, wanted);
  EXPECT_EQ(count(part, 1), count(ordinary, 1));
  EXPECT_NEAR(static_cast<double>(count(part, 64) - count(ordinary, 64)), 240, 60);
  EXPECT_EQ(count(part, 128) - count(ordinary, 128), std::ssize(legal_panel_schedules(128)));
}

}  // namespace
}  // namespace esc::tests
