// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/report_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "generator/support/escaped.h"
#include "tests/unit/tuner/report_records.h"
#include "tuner/report/xy_chart.h"

namespace esc::tuning {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// What is wrong with the nesting of tags in an XML text; empty where nothing is.
std::string nesting_problem(const std::string& text) {
  std::vector<std::string> open;
  for (std::size_t at = text.find('<'); at != std::string::npos; at = text.find('<', at)) {
    const std::size_t end = text.find('>', at);
    if (end == std::string::npos) {
      return "a tag without an end";
    }
    const std::string tag = text.substr(at + 1, end - at - 1);
    at = end;
    if (tag.find('<') != std::string::npos || std::ranges::count(tag, '"') % 2 != 0) {
      return "broken: " + tag;
    }
    if (tag.starts_with('!') || tag.ends_with('/')) {
      continue;
    }
    const std::string name = tag.substr(0, tag.find(' '));
    if (!name.starts_with('/')) {
      open.push_back(name);
    } else if (open.empty() || "/" + open.back() != name) {
      return name + " closes nothing";
    } else {
      open.pop_back();
    }
  }
  return open.empty() ? "" : open.back() + " stays open";
}

std::string page_of(const std::vector<Record>& records) { return report_page(group_by_item(records)); }

TEST(NestingProblem, IsFound) {
  EXPECT_EQ(nesting_problem("<a b=\"c\"><d/></a>"), "");
  EXPECT_NE(nesting_problem("<a></b>"), "");
  EXPECT_NE(nesting_problem("<a>"), "");
}

TEST(ReportPage, IsOneWholeFile) {
  const std::string page = page_of(two_layers());
  EXPECT_EQ(nesting_problem(page), "");
  for (const char* foreign : {"<script", "src=", "href=", "url(", "@import", "/data/"}) {
    EXPECT_THAT(page, Not(HasSubstr(foreign)));
  }
  for (const char* part :
       {"Speed-up over the share of zeros, bCol 32", "Cumulative distribution of the speed-ups over cuSPARSE",
        "Family atomic, bCol 32", "Family panel, bCol 32", "Roofline", "Table 1.", "Table 2.", "do not use ours there",
        "wrong-result", "NVIDIA H200", "Verdicts"}) {
    EXPECT_THAT(page, HasSubstr(part));
  }
}

TEST(ReportPage, EscapesWhatComesFromRecords) {
  auto records = two_layers();
  for (Record& record : records) {
    std::visit([](auto& kind) { kind.environment.device_name = "<script>alert('x')</script>"; }, record);
    std::visit([](auto& kind) { kind.item.layer.file += "\"><img>"; }, record);
  }
  const std::string page = page_of(records);
  EXPECT_EQ(nesting_problem(page), "");
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  EXPECT_THAT(page, Not(HasSubstr("<b>rising")));
  EXPECT_THAT(page, HasSubstr("&lt;b&gt;rising&lt;/b&gt;"));
}

TEST(ReportPage, IsTheSameWhateverTheOrderOfTheRecords) {
  auto records = two_layers();
  const std::string page = page_of(records);
  std::mt19937 random(7);
  for (int turn = 0; turn < 5; ++turn) {
    std::shuffle(records.begin(), records.end(), random);
    EXPECT_EQ(page_of(records), page);
  }
}

TEST(ReportPage, HoldsWithLittleOrNothing) {
  const WorkItem item = item_of_layer("a.smtx");
  WorkItem old_device = item;
  old_device.device = {61, 20, 2U << 20U};
  CandidateRecord without_samples = timed(item, narrow_panel, 1);
  without_samples.samples.clear();
  const std::vector<std::vector<Record>> journals{
      {},
      {timed(item, narrow_panel, 2)},
      {timed(item, "cusparse", 2)},
      {failed(item, narrow_panel, Outcome::wrong_result, "")},
      {without_samples},
      {timed(old_device, paper_atomic, 2), timed(old_device, "cusparse", 4)},
      {decided(item, "", 0, Verdict::unsure)},
  };
  for (const auto& records : journals) {
    const std::string page = page_of(records);
    EXPECT_EQ(nesting_problem(page), "");
    EXPECT_THAT(page, Not(HasSubstr("nan")));
    EXPECT_THAT(page, Not(HasSubstr(">inf")));
  }
  EXPECT_THAT(page_of(journals[0]), HasSubstr("There are no records."));
  EXPECT_THAT(page_of(journals[5]), HasSubstr("The ceilings of this device are not known."));
}

TEST(XyChart, LeavesAwayWhatHasNoPlace) {
  XyChart chart{.title = "t", .horizontal = {"x"}, .vertical = {"y", true, 2}, .series = {}, .level = 1};
  chart.series = {{"s", XyChart::Style::marks, {{1, 0, ""}, {2, -1, ""}, {3, 4, "the <only> one"}}}};
  const std::string svg = to_svg(chart);
  EXPECT_EQ(nesting_problem(svg), "");
  EXPECT_THAT(svg, HasSubstr("<title>the &lt;only&gt; one</title>"));
  EXPECT_THAT(svg, Not(HasSubstr("inf")));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
}

TEST(XyChart, HasMarksAtPowersAboutAllPoints) {
  XyChart chart{.title = "t", .horizontal = {"x"}, .vertical = {"y", true, 10}, .series = {}, .level = std::nullopt};
  chart.series = {{"s", XyChart::Style::line, {{50, 200}, {90, 20000}}}};
  const std::string svg = to_svg(chart);
  for (const char* mark : {">50</text>", ">90</text>", ">100</text>", ">100000</text>"}) {
    EXPECT_THAT(svg, HasSubstr(mark));
  }
  EXPECT_THAT(svg, Not(HasSubstr(">10</text>")));
}

TEST(Escaped, LeavesNoMarkup) { EXPECT_EQ(escaped("<a b='\"'>&\x01"), "&lt;a b=&#39;&quot;&#39;&gt;&amp; "); }

}  // namespace
}  // namespace esc::tuning
