// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "generator/schedule/device_ceilings.h"
#include "generator/support/error.h"
#include "generator/support/means.h"
#include "tests/unit/tuner/report_records.h"
#include "tuner/report/candidate_table.h"
#include "tuner/report/coarsening_map.h"
#include "tuner/report/glob.h"
#include "tuner/report/item_tables.h"
#include "tuner/report/outcome_tables.h"
#include "tuner/report/paper_tables.h"
#include "tuner/report/report_charts.h"
#include "tuner/report/roofline.h"
#include "tuner/report/summary_json.h"

namespace esc::tuning {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(Means, AreThoseOfTheNumbers) {
  EXPECT_DOUBLE_EQ(geometric_mean({2, 8}).value(), 4);
  EXPECT_FALSE(geometric_mean({}).has_value());
  EXPECT_DOUBLE_EQ(quantile({4, 1, 3, 2}, 0.5).value(), 2.5);
  EXPECT_DOUBLE_EQ(quantile({7}, 0.9).value(), 7);
  EXPECT_DOUBLE_EQ(quantile({0, 10}, 0.25).value(), 2.5);
  EXPECT_FALSE(quantile({}, 0.5).has_value());
  EXPECT_FALSE(share_of(0, 0).has_value());
}

TEST(TableText, IsAlignedAndKeepsItsCells) {
  const Table table{"Title", {text_column("name"), {"us"}}, {{"a|b", "1.0"}, {"\xc3\xa9\n", "22.00"}}};
  EXPECT_EQ(markdown(table),
            "Title\n\n| name |    us |\n| ---- | ----: |\n| a\\|b |   1.0 |\n| \xc3\xa9    | 22.00 |\n");
  EXPECT_THAT(html({"<t>", {{"&"}}, {{"'x' \"y\""}}}),
              HasSubstr("<caption>&lt;t&gt;</caption>\n<thead><tr><th scope=\"col\" class=\"number\">&amp;</th>"));
  EXPECT_THROW(markdown(Table{"", {{"one"}}, {{"1", "2"}}}), Defect);
}

TEST(ItemSummary, TakesTheFinalTimeOfTheDecidedWinner) {
  const auto items = summaries_of(two_layers());
  ASSERT_EQ(items.size(), 2U);
  EXPECT_EQ(items[0].name, "even.smtx") << "the folder that all have in common is left away";
  EXPECT_EQ(items[0].winner, narrow_panel);
  EXPECT_DOUBLE_EQ(items[0].microseconds.value(), 2);
  EXPECT_DOUBLE_EQ(items[0].chain_microseconds.value(), 1);
  EXPECT_DOUBLE_EQ(items[1].microseconds.value(), 4) << "of the search, where there was no final";
  EXPECT_EQ(best_exact_name(items[0]), "cuBLAS FP32");
  EXPECT_EQ(best_exact_name(items[1]), "cuSPARSE");
  EXPECT_DOUBLE_EQ(speed_up(items[0], Rival::best_exact).value(), 2);
  EXPECT_DOUBLE_EQ(speed_up(items[1], Rival::best_exact).value(), 0.5);
  EXPECT_DOUBLE_EQ(speed_up(items[1], Rival::cublas_tf32).value(), 0.5);
}

TEST(ItemSummary, CountsCusparseLtWhereItIsExact) {
  WorkItem item = item_of_layer("a.smtx");
  const auto summary = [&] {
    return summaries_of({timed(item, narrow_panel, 2), timed(item, "cusparselt", 3), timed(item, "cusparse", 4)})
        .front();
  };
  EXPECT_EQ(best_exact_name(summary()), "cuSPARSE");
  item.dtype = "f16";
  EXPECT_EQ(best_exact_name(summary()), "cuSPARSELt");
  EXPECT_DOUBLE_EQ(speed_up(summary(), Rival::best_exact).value(), 1.5);
}

TEST(ItemSummary, SaysWhereThereIsNothing) {
  EXPECT_THAT(summarise({}), IsEmpty());
  const WorkItem item = item_of_layer("a.smtx");
  const auto none_right = summaries_of({failed(item, narrow_panel, Outcome::compile_failed, "why")});
  EXPECT_EQ(none_right.front().winner, "");
  EXPECT_FALSE(none_right.front().microseconds.has_value());
  EXPECT_EQ(best_exact_name(none_right.front()), "-");
  CandidateRecord without_samples = timed(item, narrow_panel, 1);
  without_samples.samples.clear();
  EXPECT_FALSE(summaries_of({without_samples}).front().microseconds.has_value());
}

TEST(GroupSummary, HasGeometricMeansAndShares) {
  const auto groups = group(summaries_of(two_layers()));
  ASSERT_EQ(groups.size(), 1U);
  const GroupSummary& one = groups.front();
  EXPECT_EQ(one.right, 2U);
  EXPECT_NEAR(one.microseconds.value(), std::sqrt(8.0), 1e-12);
  EXPECT_NEAR(one.plain.at(Rival::best_exact).geometric_mean.value(), 1, 1e-12) << "2 and 0.5";
  EXPECT_DOUBLE_EQ(one.plain.at(Rival::best_exact).faster.value(), 0.5);
  EXPECT_NEAR(one.plain.at(Rival::cublas_fp32).geometric_mean.value(), std::sqrt(8.0), 1e-12) << "2 and 4";
  EXPECT_DOUBLE_EQ(one.plain.at(Rival::cublas_fp32).faster.value(), 1);
  EXPECT_NEAR(one.plain.at(Rival::cusparse).geometric_mean.value(), std::sqrt(2.0), 1e-12) << "4 and 0.5";
  EXPECT_EQ(one.chain.at(Rival::cusparse).layers, 1U);
  EXPECT_DOUBLE_EQ(one.chain.at(Rival::cusparse).geometric_mean.value(), 8);
  EXPECT_EQ(one.verdicts.at(Verdict::better), 1U);
  EXPECT_EQ(one.verdicts.at(Verdict::same), 1U);
}

TEST(GroupSummary, CountsATieAsNotFaster) {
  const WorkItem item = item_of_layer("a.smtx");
  const auto groups = group(summaries_of({timed(item, narrow_panel, 2), timed(item, "cusparse", 2)}));
  EXPECT_DOUBLE_EQ(groups.front().plain.at(Rival::cusparse).faster.value(), 0);
}

TEST(GroupSummary, KeepsSettingsApart) {
  WorkItem cold = item_of_layer("a.smtx");
  cold.cache = CacheState::cold;
  const auto groups =
      group(summaries_of({timed(item_of_layer("a.smtx", 64), narrow_panel, 2),
                          timed(item_of_layer("a.smtx"), narrow_panel, 2), timed(cold, narrow_panel, 3)}));
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_EQ(groups[0].bcol, 32);
  EXPECT_EQ(groups[1].bcol, 64);
  EXPECT_EQ(print(groups[2].setting), "sm90-132sm-60mib, f32, L2 cold");
  EXPECT_EQ(by_setting(groups).size(), 2U);
}

TEST(ItemTables, SayPlainlyWhereALibraryWins) {
  const auto items = summaries_of(two_layers());
  EXPECT_THAT(item_table(items).rows.front(), ElementsAre("even.smtx", "512 x 512", "90.0", "32", narrow_panel, "2.00",
                                                          "cuBLAS FP32", "4.00", "2.00", "1.50", "BETTER"));
  const Table lost = lost_table(items);
  ASSERT_EQ(lost.rows.size(), 1U);
  EXPECT_THAT(lost.rows.front(),
              ElementsAre("odd.smtx", "512 x 512", "90.0", "32", "4.00", "cuSPARSE", "2.00", "2.00"));
  EXPECT_EQ(lost_to_tf32_table(items).rows.size(), 1U);
  const WorkItem item = item_of_layer("a.smtx");
  const Table none =
      lost_table(summaries_of({failed(item, narrow_panel, Outcome::timed_out, "10 s"), timed(item, "cusparse", 2)}));
  ASSERT_EQ(none.rows.size(), 1U);
  EXPECT_EQ(none.rows.front().back(), "none of ours was right");
}

TEST(OutcomeTables, CountByStageAndReason) {
  auto records = two_layers();
  records.emplace_back(failed(item_of_layer("even.smtx"), "panel:a", Outcome::timed_out, "10 s"));
  records.emplace_back(failed(item_of_layer("odd.smtx"), "panel:a", Outcome::timed_out, "10 s"));
  const auto items = group_by_item(records);
  const Table outcomes = outcome_table(items);
  EXPECT_THAT(outcomes.rows[0], ElementsAre("ok", "7", "1", "1", "6"));
  EXPECT_THAT(outcomes.rows[4], ElementsAre("timed-out", "2", "0", "0", "0"));
  const Table failures = failure_table(items);
  ASSERT_EQ(failures.rows.size(), 2U);
  EXPECT_THAT(failures.rows[1], ElementsAre("timed-out", "10 s", "2", "panel:a", "even.smtx", "32"));
  EXPECT_THAT(environment_table(items).rows,
              ElementsAre(ElementsAre("sm90-132sm-60mib", "NVIDIA H200", "13.0", "13.0", "0.1.0", "2")));
}

TEST(PaperTables, TableOneStandsBesideThePaper) {
  const auto groups = group(summaries_of(two_layers()));
  const Table table = table_one(groups);
  EXPECT_THAT(table.rows[0], ElementsAre("speed-up over cuBLAS FP32", "2.83 (1.40)"));
  EXPECT_THAT(table.rows[1], ElementsAre("speed-up over cuBLAS TF32", "0.87 (1.17)"));
  EXPECT_THAT(table.rows[2], ElementsAre("speed-up over cuSPARSE", "1.41 (1.85)"));
  EXPECT_THAT(table.rows[3], ElementsAre("faster matrices, %, than cuBLAS FP32", "100.00 (85.54)"));
  EXPECT_THAT(table.rows[5], ElementsAre("faster matrices, %, than cuSPARSE", "50.00 (96.05)"));
  EXPECT_THAT(table.rows[6], ElementsAre("matrices", "2"));
}

TEST(PaperTables, TableTwoHasTheScheduleThatLosesLeast) {
  const auto items = group_by_item(two_layers());
  const auto groups = group(summarise(items));
  // narrow: 2/2 and 9/4; wide: 3/2 and 4/4; atomic 4-7-1-32: 6/2 and 8/4; 1-1-1-32 was right on one layer only.
  const auto single = best_single_schedule(groups.front(), items, "");
  ASSERT_TRUE(single.has_value());
  EXPECT_EQ(single->schedule, wide_panel);
  EXPECT_NEAR(single->loss, std::sqrt(1.5), 1e-12);
  EXPECT_NEAR(single->over_fp32.value(), std::sqrt(4.0 / 3 * 4), 1e-12);
  const auto atomic = best_single_schedule(groups.front(), items, "atomic:");
  EXPECT_EQ(atomic->schedule, paper_atomic);
  EXPECT_NEAR(atomic->loss, std::sqrt(6.0), 1e-12);
  EXPECT_EQ(atomic->layers, 2U);
  EXPECT_FALSE(best_single_schedule(groups.front(), items, "rows:").has_value());
  const Table table = table_two(groups, items);
  EXPECT_THAT(table.rows[1], ElementsAre("32", "family atomic", "4-7-1-32", "0.58", "1.15", "144.9", "2"));
  EXPECT_THAT(table.rows[2], ElementsAre("32", "the paper", "4-7-1-32", "1.73", "1.32", "almost 10", "3608"));
  EXPECT_THAT(paper_tables(groups, items), HasSubstr("### sm90-132sm-60mib, f32, L2 warm\n\nTable 1. "));
}

TEST(CandidateTable, PutsFinalistsFirst) {
  const auto items = group_by_item(two_layers());
  const Table table = candidate_table(items.begin()->second, 3);
  ASSERT_EQ(table.rows.size(), 3U);
  EXPECT_THAT(table.rows[0], ElementsAre("1", narrow_panel, "final", "2.00", "1.00", "20.0", "3.0e-07", "32", "0",
                                         "1024", "256", "64"));
  EXPECT_EQ(table.rows[1][1], wide_panel);
  EXPECT_EQ(table.rows[2][1], paper_atomic);
  const Table libraries = library_table(items.begin()->second);
  EXPECT_THAT(libraries.rows[0], ElementsAre("cublas-fp32", "-", "4.00", "20.0", "3.0e-07", "2.00", "ok"));
  EXPECT_THAT(candidate_table(ItemResults{}, 10).rows, IsEmpty());
}

TEST(CoarseningMap, ComparesTheFastestOfEachPlace) {
  auto records = two_layers();
  records.emplace_back(timed(item_of_layer("even.smtx"), "atomic: thread=4x1, unroll_k=7, threads=64", 3));
  records.emplace_back(timed(item_of_layer("even.smtx"), "atomic:of another version", 1));
  const auto items = group_by_item(records);
  const auto groups = group(summarise(items));
  const auto cells = coarsening_map(groups.front(), items, "atomic");
  ASSERT_EQ(cells.size(), 2U);
  EXPECT_EQ(cells.at({4, 7}).layers, 2U);
  EXPECT_DOUBLE_EQ(cells.at({4, 7}).relative_time, 1);
  EXPECT_DOUBLE_EQ(cells.at({1, 1}).relative_time, 4);
  EXPECT_DOUBLE_EQ(cells.at({4, 7}).warps.value(), 64) << "8 blocks of 8 warps";
  EXPECT_THAT(to_svg(heat_map(cells, "a <map>")), HasSubstr(">64 warps</text>"));
  EXPECT_EQ(coarsening_map(groups.front(), items, "panel").size(), 2U);
  EXPECT_THAT(coarsening_map(groups.front(), items, "rows"), IsEmpty());
  EXPECT_FALSE(warps_on({50, 16, 0}, {}).has_value()) << "a device that is too old";
}

TEST(Roofline, HasOperationsOverBytes) {
  const auto items = summaries_of(two_layers());
  const auto point = roofline_point(items[0]);
  ASSERT_TRUE(point.has_value());
  const double operations = 2.0 * 26214 * 32;
  EXPECT_NEAR(point->intensity, operations / (200000 + 2 * 512 * 32 * 4), 1e-9);
  EXPECT_NEAR(point->gigaflops, operations / 2000, 1e-9) << "2 us are 2,000 ns";
  EXPECT_THAT(to_svg(roofline(group(items))), HasSubstr("FP32 peak, 66900 GFLOP/s"));
  EXPECT_FALSE(device_ceilings({75, 41, 4U << 20U}).has_value());
  EXPECT_THAT(roofline({}).series, IsEmpty());
}

TEST(Distribution, CountsUpToAllLayers) {
  const auto groups = group(summaries_of(two_layers()));
  const XyChart chart = distribution_chart(groups, Rival::best_exact);
  const auto& points = chart.series.front().points;
  ASSERT_EQ(points.size(), 3U);
  EXPECT_DOUBLE_EQ(points[0].y, 0);
  EXPECT_DOUBLE_EQ(points[1].x, 0.5);
  EXPECT_DOUBLE_EQ(points[1].y, 50);
  EXPECT_DOUBLE_EQ(points[2].x, 2);
  EXPECT_DOUBLE_EQ(points[2].y, 100);
  EXPECT_THAT(distribution_table(groups, Rival::best_exact).rows.front(),
              ElementsAre("32", "2", "0.50", "0.65", "0.88", "1.25", "1.62", "1.85", "2.00"));
}

TEST(Pick, FitsNamesLabelsAndFiles) {
  const auto items = summaries_of(two_layers());
  EXPECT_EQ(pick(items, "even*").size(), 1U);
  EXPECT_EQ(pick(items, "*@32").size(), 2U);
  EXPECT_EQ(pick(items, "/data/odd.smtx").size(), 1U);
  EXPECT_THROW(pick(items, "*@64"), UserError);
  EXPECT_THROW(pick({}, "*"), UserError);
}

TEST(Pick, FitsANameThatLooksLikeAPattern) {
  const auto items = summaries_of(
      {timed(item_of_layer("a[1].smtx"), narrow_panel, 2), timed(item_of_layer("b.smtx"), narrow_panel, 2)});
  for (const char* name : {"a[1].smtx", "a[1].smtx@32", "/data/a[1].smtx"}) {
    EXPECT_EQ(pick(items, name).size(), 1U) << name;
  }
}

TEST(SummaryJson, HasItemsSummaryAndOutcomes) {
  const auto items = group_by_item(two_layers());
  const auto json = nlohmann::json::parse(to_json(summarise(items), items));
  EXPECT_EQ(json["items"].size(), 2U);
  EXPECT_EQ(json["items"][0]["rivals"]["best_exact"]["speed_up"], 2.0);
  EXPECT_EQ(json["items"][1]["chain_microseconds"], nullptr);
  EXPECT_EQ(json["summary"][0]["plain"]["cublas-fp32"]["faster"], 1.0);
  EXPECT_EQ(json["outcomes"]["wrong-result"], 1);
  EXPECT_EQ(json["outcomes"]["ok"], 15);
}

}  // namespace
}  // namespace esc::tuning
