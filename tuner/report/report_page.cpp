// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/report_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <vector>

#include "generator/report/page.h"
#include "generator/schedule/device_ceilings.h"
#include "tuner/report/coarsening_map.h"
#include "tuner/report/comparison_text.h"
#include "tuner/report/item_tables.h"
#include "tuner/report/leading_tables.h"
#include "tuner/report/outcome_tables.h"
#include "tuner/report/page_head.h"
#include "tuner/report/paper_tables.h"
#include "tuner/report/report_charts.h"
#include "tuner/report/roofline.h"

namespace esc::tuning {
namespace {

/// A picture, with its numbers below it.
std::string figure(const std::string& svg, const Table& numbers) {
  return "<figure>\n" + svg + folded("The numbers of this picture", numbers) + "</figure>\n";
}

/// The table, or a sentence where it has no rows.
std::string table_or(const Table& table, const std::string& otherwise) {
  return table.rows.empty() ? paragraph(otherwise) : html(table);
}

/// Pictures, next to each other where the page is wide enough; a sentence where there are none.
std::string charts_or(const std::string& figures, const std::string& otherwise) {
  return figures.empty() ? paragraph(otherwise) : "<div class=\"charts\">\n" + figures + "</div>\n";
}

std::size_t point_count(const XyChart& chart) {
  std::size_t count = 0;
  for (const XyChart::Series& series : chart.series) {
    count += series.points.size();
  }
  return count;
}

std::string speed_up_pictures(const std::vector<GroupSummary>& groups) {
  std::string figures;
  for (const GroupSummary& group : groups) {
    const XyChart chart = speed_up_chart(group);
    if (point_count(chart) > 0) {
      figures += figure(to_svg(chart), speed_up_table(group));
    }
  }
  return heading(3, "Speed-up over the share of zeros") +
         charts_or(figures, "No layer has both a right kernel and a library to compare it with.");
}

std::string distribution_pictures(const std::vector<GroupSummary>& groups) {
  std::string figures;
  for (const Rival rival : {Rival::best_exact, Rival::cublas_tf32, Rival::cusparse}) {
    const XyChart chart = distribution_chart(groups, rival);
    if (point_count(chart) > 0) {
      figures += figure(to_svg(chart), distribution_table(groups, rival));
    }
  }
  return heading(3, "Cumulative distribution of the speed-ups") +
         charts_or(figures, "There are no speed-ups to distribute.");
}

Table coarsening_table(const std::map<std::pair<int, int>, CoarseningCell>& cells) {
  Table table{"Relative times and warps that reside on a multiprocessor.",
              {{"UFi"}, {"UFk"}, {"relative time"}, {"warps per SM"}, {"layers"}},
              {}};
  for (const auto& [place, cell] : cells) {
    table.rows.push_back({std::to_string(place.first), std::to_string(place.second), with_digits(cell.relative_time),
                          with_digits(cell.warps, 1), std::to_string(cell.layers)});
  }
  return table;
}

std::string coarsening_pictures(const std::vector<GroupSummary>& groups, const std::map<ItemKey, ItemResults>& items) {
  std::string text = heading(3, "UFi and UFk: reuse of registers against occupancy");
  text += paragraph(
      "For each layer the fastest schedule with this UFi and UFk, against the fastest one of its family for that "
      "layer; the "
      "geometric mean over the layers, and below it how many of its warps reside on a multiprocessor. 1.00 is best.");
  std::string figures;
  for (const std::string family : {"atomic", "panel"}) {
    for (const GroupSummary& group : groups) {
      const auto cells = coarsening_map(group, items, family);
      if (!cells.empty()) {
        const std::string title = fmt::format("Family {}, N = {}: relative time", family, group.bcol);
        figures += figure(to_svg(heat_map(cells, title)), coarsening_table(cells));
      }
    }
  }
  return text + charts_or(figures, "No schedule of the families atomic and panel was right.");
}

std::string roofline_picture(const std::vector<GroupSummary>& groups) {
  std::string text = heading(3, "Roofline");
  const XyChart chart = roofline(groups);
  const Table table = roofline_table(groups);
  if (table.rows.empty()) {
    return text + paragraph("No winner's time and packed size are both known.");
  }
  text += figure(to_svg(chart), table);
  const auto ceilings = device_ceilings(groups.front().setting.device);
  text += paragraph(ceilings ? fmt::format("Ceilings of the {}: {}.{}", ceilings->name, ceilings->source,
                                           ceilings->l2_gigabytes ? "" : " The bandwidth of its L2 cache is not known.")
                             : "The ceilings of this device are not known.");
  return text;
}

std::string setting_section(const std::vector<GroupSummary>& groups, const std::map<ItemKey, ItemResults>& items) {
  std::vector<ItemSummary> members;
  for (const GroupSummary& group : groups) {
    members.insert(members.end(), group.items.begin(), group.items.end());
  }
  std::string text = "<section>\n" + heading(2, print(groups.front().setting));
  text += html(total_table(groups)) + html(layers_table(groups)) + bytes_section(groups);
  text += folded("Geometric means, and over each library", summary_table(groups));
  text += folded("The paper's tables for this device", html(table_one(groups)) + html(table_two(groups, items)));
  text += heading(3, "Where a library is faster");
  text += table_or(lost_table(members),
                   "There is no layer on which a library that is exact was measured to be faster than ours.");
  text += table_or(lost_to_tf32_table(members),
                   "There is no layer on which cuBLAS TF32 was measured to be faster than ours.");
  text += speed_up_pictures(groups) + distribution_pictures(groups) + coarsening_pictures(groups, items);
  text += roofline_picture(groups);
  text += heading(3, "Verdicts") + html(verdict_table(groups));
  text += heading(3, "All items") + folded("All items", item_table(members));
  return text + "</section>\n";
}

/// What is different from older records, and how that went from night to night.
std::string history_section(const std::vector<ItemSummary>& items, const ReportFrame& frame) {
  std::string text;
  if (!frame.nights.empty()) {
    std::vector<Night> nights = frame.nights;
    nights.push_back({frame.date.empty() ? "this one" : frame.date, items});
    text += heading(2, "Night by night") + "<figure>\n" + to_svg(night_chart(nights)) + "</figure>\n" +
            html(night_table(nights));
  }
  if (!frame.against.empty()) {
    text += heading(2, "Against older records") + html(change_table(compare_journals(frame.against, items)));
  }
  return text;
}

/// Each name once, in the order of the names.
std::vector<std::string> device_names(const std::map<ItemKey, ItemResults>& items) {
  std::set<std::string> names;
  for (const auto& [key, results] : items) {
    names.insert(results.environment.device_name);
  }
  return {names.begin(), names.end()};
}

}  // namespace

std::string report_page(const std::map<ItemKey, ItemResults>& items, const ReportFrame& frame) {
  const std::vector<ItemSummary> summaries = summarise(items);
  const std::vector<GroupSummary> groups = group(summaries);
  const std::string title = "SpMM schedules, measured";
  std::string text = heading(1, title);
  text += groups.empty() ? paragraph("There are no records.") : page_head(summaries, device_names(items));
  if (!frame.date.empty() || !frame.host.empty()) {
    text += paragraph(frame.date + (frame.date.empty() || frame.host.empty() ? "" : ", ") + frame.host);
  }
  text += paragraph(
      "Times are of one launch. Each kernel was compared with a float64 product before it was timed. Speed-ups are the "
      "library's time over ours: above 1 ours is faster.");
  text += html(environment_table(items));
  for (const std::vector<GroupSummary>& members : by_setting(groups)) {
    text += setting_section(members, items);
  }
  text += history_section(summaries, frame);
  text += heading(2, "Candidates and failures") + html(outcome_table(items));
  text += table_or(failure_table(items), "No candidate failed.");
  return html_page(title, text);
}

}  // namespace esc::tuning
