// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/unit/tuner/report_records.h"
#include "tuner/report/comparison_text.h"

namespace esc::tuning {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

ItemSummary won(const std::string& winner, double microseconds, double spread) {
  ItemSummary summary;
  summary.item = item_of_layer("a.smtx");
  summary.winner = winner;
  summary.microseconds = microseconds;
  summary.spread = spread;
  return summary;
}

ItemSummary nothing_right() {
  ItemSummary summary;
  summary.item = item_of_layer("a.smtx");
  return summary;
}

TEST(CompareItems, JudgesByTimeAndNoise) {
  struct Case {
    const char* why;
    ItemSummary before;
    ItemSummary after;
    Verdict verdict;
  };
  const std::vector<Case> cases{
      {"equal", won("s", 2, 0), won("s", 2, 0), Verdict::same},
      {"just 2 % slower", won("s", 2, 0), won("s", 2.0399, 0), Verdict::same},
      {"just 2 % faster", won("s", 2.0399, 0), won("s", 2, 0), Verdict::same},
      {"within 2 %, another schedule", won("s", 2, 0), won("t", 2.03, 0), Verdict::same},
      {"slower beyond noise", won("s", 2, 0.01), won("s", 2.1, 0.02), Verdict::worse},
      {"faster beyond noise", won("s", 2.1, 0.01), won("t", 2, 0.02), Verdict::better},
      {"within the old one's noise", won("s", 2, 0.06), won("s", 2.1, 0), Verdict::same},
      {"within the new one's noise, another schedule", won("s", 2, 0), won("t", 2.1, 0.06), Verdict::unsure},
      {"lost its kernel", won("s", 2, 0), nothing_right(), Verdict::worse},
      {"has a kernel now", nothing_right(), won("s", 2, 0), Verdict::better},
      {"none in either", nothing_right(), nothing_right(), Verdict::same},
  };
  for (const Case& one : cases) {
    EXPECT_EQ(compare_items(one.before, one.after).verdict, one.verdict) << one.why;
  }
}

TEST(CompareJournals, CountsCommonItems) {
  const auto before =
      summaries_of({timed(item_of_layer("a.smtx"), narrow_panel, 2), timed(item_of_layer("b.smtx"), narrow_panel, 2),
                    timed(item_of_layer("c.smtx"), narrow_panel, 2)});
  const auto after =
      summaries_of({timed(item_of_layer("a.smtx"), narrow_panel, 4), timed(item_of_layer("b.smtx"), wide_panel, 1),
                    timed(item_of_layer("d.smtx"), narrow_panel, 2)});
  const JournalComparison comparison = compare_journals(before, after);
  EXPECT_EQ(comparison.changes.size(), 2U);
  EXPECT_EQ(comparison.count(Verdict::worse), 1U);
  EXPECT_EQ(comparison.count(Verdict::better), 1U);
  EXPECT_THAT(comparison.only_before, ElementsAre("c.smtx@32"));
  EXPECT_THAT(comparison.only_after, ElementsAre("d.smtx@32"));
  EXPECT_DOUBLE_EQ(comparison.agreement().value(), 0.5) << "a has the same winner, b neither that nor is it SAME";
  EXPECT_THAT(print(comparison),
              HasSubstr("2 items in both: 1 BETTER, 1 WORSE, 0 SAME, 0 UNSURE; same winner or SAME: 50.0 %\n"
                        "only before: c.smtx@32\nonly after: d.smtx@32\n"));
  const auto json = nlohmann::json::parse(to_json(comparison));
  EXPECT_EQ(json["worse"], 1);
  EXPECT_EQ(json["items"][0]["ratio"], 2.0);
}

TEST(CompareJournals, HoldsWithoutCommonItems) {
  const JournalComparison comparison = compare_journals({}, {});
  EXPECT_FALSE(comparison.agreement().has_value());
  EXPECT_THAT(print(comparison), HasSubstr("0 items in both"));
  EXPECT_EQ(nlohmann::json::parse(to_json(comparison))["agreement"], nullptr);
}

}  // namespace
}  // namespace esc::tuning
