// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/leading_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace esc::tuning {
namespace {

std::string time_and_ratio(const ItemSummary& item) {
  const std::optional<double> ratio = speed_up(item, Rival::best_exact);
  return with_digits(item.microseconds) + (ratio ? fmt::format(" ({:.2f} x)", *ratio) : "");
}

}  // namespace

Table total_table(const std::vector<GroupSummary>& groups) {
  Table table{
      "All layers together, of which both times are known: the sum of our times, of the best exact library's, and of "
      "the shorter one of each layer.",
      {{"N"},
       {"layers"},
       {"ours, us"},
       {"best exact library, us"},
       {"over it"},
       {"the shorter, us"},
       {"layers that are faster"}},
      {}};
  for (const GroupSummary& group : groups) {
    double ours = 0;
    double theirs = 0;
    double shorter = 0;
    std::size_t layers = 0;
    std::size_t faster = 0;
    for (const ItemSummary& item : group.items) {
      const std::optional<double> library = time_of(item, Rival::best_exact);
      if (!item.microseconds || !library) {
        continue;
      }
      ++layers;
      ours += *item.microseconds;
      theirs += *library;
      shorter += std::min(*item.microseconds, *library);
      faster += *item.microseconds < *library ? 1 : 0;
    }
    if (layers == 0) {
      table.rows.push_back({std::to_string(group.bcol), "0", "-", "-", "-", "-", "-"});
      continue;
    }
    table.rows.push_back({std::to_string(group.bcol), std::to_string(layers), with_digits(ours), with_digits(theirs),
                          with_digits(theirs / ours), with_digits(shorter), fmt::format("{} of {}", faster, layers)});
  }
  return table;
}

Table layers_table(const std::vector<GroupSummary>& groups) {
  Table table{"Our time for each layer, in us, and how many times as long the best exact library takes.",
              {text_column("layer"), {"M x K"}, {"zeros, %"}},
              {}};
  std::map<std::string, std::size_t> row_of;
  for (const GroupSummary& group : groups) {
    table.columns.push_back({fmt::format("N = {}", group.bcol)});
    for (const ItemSummary& item : group.items) {
      const LayerFacts& layer = item.item.layer;
      const auto [row, is_new] = row_of.emplace(item.name + layer.pattern, table.rows.size());
      if (is_new) {
        table.rows.push_back(
            {item.name, fmt::format("{} x {}", layer.rows, layer.columns), percent(layer.sparsity(), 1)});
      }
      std::vector<std::string>& cells = table.rows[row->second];
      cells.resize(table.columns.size() - 1, "-");
      cells.push_back(time_and_ratio(item));
    }
  }
  for (std::vector<std::string>& cells : table.rows) {
    cells.resize(table.columns.size(), "-");
  }
  return table;
}

}  // namespace esc::tuning
