// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/nights.h"

#include <fmt/format.h>

#include <map>

#include "tuner/report/compare_items.h"

namespace esc::tuning {
namespace {

/// Of items with a time, how many nights have one.
std::map<ItemKey, std::size_t> nights_of_items(const std::vector<Night>& nights) {
  std::map<ItemKey, std::size_t> counts;
  for (const Night& night : nights) {
    for (const ItemSummary& item : night.items) {
      counts[key_of(item.item)] += item.microseconds ? 1 : 0;
    }
  }
  return counts;
}

/// The winners' times added up over the items that every night has; none where there is no such item.
std::vector<std::optional<double>> sums_of(const std::vector<Night>& nights) {
  const std::map<ItemKey, std::size_t> counts = nights_of_items(nights);
  std::vector<std::optional<double>> sums;
  for (const Night& night : nights) {
    std::optional<double> sum;
    for (const ItemSummary& item : night.items) {
      if (counts.at(key_of(item.item)) == nights.size()) {
        sum = sum.value_or(0) + *item.microseconds;
      }
    }
    sums.push_back(sum);
  }
  return sums;
}

}  // namespace

Table night_table(const std::vector<Night>& nights) {
  Table table{
      "Nights, the oldest first. The sum is that of the items which all of them have; verdicts compare with the night "
      "before.",
      {text_column("night"), {"items"}, {"sum, us"}, {"over the first"}, {"BETTER"}, {"WORSE"}, {"SAME"}, {"UNSURE"}},
      {}};
  const std::vector<std::optional<double>> sums = sums_of(nights);
  for (std::size_t number = 0; number < nights.size(); ++number) {
    const std::optional<double> relative = sums[number] ? std::optional(*sums[number] / *sums.front()) : std::nullopt;
    std::vector<std::string> row{nights[number].label, std::to_string(nights[number].items.size()),
                                 with_digits(sums[number]), with_digits(relative, 3)};
    if (number == 0) {
      row.insert(row.end(), 4, "-");
    } else {
      const JournalComparison comparison = compare_journals(nights[number - 1].items, nights[number].items);
      for (const Verdict verdict : {Verdict::better, Verdict::worse, Verdict::same, Verdict::unsure}) {
        row.push_back(std::to_string(comparison.count(verdict)));
      }
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

XyChart night_chart(const std::vector<Night>& nights) {
  XyChart chart{.title = "Time of the items that all nights have, over that of the first night",
                .horizontal = {"night"},
                .vertical = {"relative time"},
                .series = {{"all items", XyChart::Style::line, {}}},
                .level = 1};
  const std::vector<std::optional<double>> sums = sums_of(nights);
  for (std::size_t number = 0; number < nights.size(); ++number) {
    if (sums[number]) {
      chart.series.front().points.push_back(
          {static_cast<double>(number + 1), *sums[number] / *sums.front(), nights[number].label});
    }
  }
  return chart;
}

}  // namespace esc::tuning
