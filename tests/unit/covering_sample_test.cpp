#include "tests/support/covering_sample.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <tuple>

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
  const std::vector<ScheduleFor> part = ordinary_part(legal);
  EXPECT_EQ(pairs_in(part), pairs_in(legal));
  EXPECT_LE(part.size(), most);
}

TEST(OrdinaryPart, HoldsAllPairsOfParametersOfFamilyAtomic) { expect_covers(legal_atomic(), 140); }
TEST(OrdinaryPart, HoldsAllPairsOfParametersOfFamilyPanel) { expect_covers(legal_panel(), 110); }
TEST(OrdinaryPart, HoldsAllPairsOfParametersOfFamilyRows) { expect_covers(legal_rows(), 150); }

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

TEST(DrawnPart, IsOfOneBColAndOfTheSizeAskedFor) {
  const std::vector<ScheduleFor> legal = legal_panel();
  const std::vector<ScheduleFor> part = drawn_part(legal, 64, 240);
  EXPECT_NEAR(static_cast<double>(part.size()), 240, 60);
  EXPECT_TRUE(std::ranges::all_of(part, [](const ScheduleFor& one) { return one.bcol == 64; }));
  EXPECT_EQ(drawn_part(legal, 128, all_of_them).size(), legal_panel_schedules(128).size());
}

}  // namespace
}  // namespace esc::tests
