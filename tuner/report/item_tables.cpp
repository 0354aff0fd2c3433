// SPDX-License-Identifier: Apache-2.0
#include "tuner/report/item_tables.h"

#include <fmt/format.h>

#include <array>

namespace esc::tuning {
namespace {

std::string shape(const LayerFacts& layer) { return fmt::format("{} x {}", layer.rows, layer.columns); }

std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }

std::string verdict_text(const ItemSummary& item) { return item.verdict ? print(*item.verdict) : "-"; }

/// What a row about a lost layer begins with.
std::vector<std::string> lost_cells(const ItemSummary& item) {
  return {item.name, shape(item.item.layer), percent(item.item.layer.sparsity(), 1), std::to_string(item.item.bcol),
          with_digits(item.microseconds)};
}

std::vector<Table::Column> lost_columns() {
  return {text_column("layer"), {"M x K"}, {"zeros, %"}, {"N"}, {"ours, us"}};
}

std::string plain_and_chain(const GroupSummary& group, Rival rival, std::optional<double> Comparison::* figure,
                            bool share) {
  const auto text = [&](const Comparison& comparison) {
    return share ? percent(comparison.*figure) : with_digits(comparison.*figure);
  };
  const Comparison& chain = group.chain.at(rival);
  return text(group.plain.at(rival)) + (chain.layers == 0 ? "" : " / " + text(chain));
}

}  // namespace

Table item_table(const std::vector<ItemSummary>& items) {
  Table table{
      "One row per item. Ratios are the library's time over ours; above 1 ours is faster. The last column compares "
      "schedules of ours: the best challenger with the one that held before, "
      "which stays the winner where that is not BETTER.",
      {text_column("layer"),
       {"M x K"},
       {"zeros, %"},
       {"N"},
       text_column("winner"),
       {"us"},
       text_column("best exact library"),
       {"us"},
       {"ratio"},
       {"TF32 ratio"},
       text_column("challenger")},
      {}};
  for (const ItemSummary& item : items) {
    table.rows.push_back({item.name, shape(item.item.layer), percent(item.item.layer.sparsity(), 1),
                          std::to_string(item.item.bcol), or_dash(item.winner), with_digits(item.microseconds),
                          best_exact_name(item), with_digits(time_of(item, Rival::best_exact)),
                          with_digits(speed_up(item, Rival::best_exact)),
                          with_digits(speed_up(item, Rival::cublas_tf32)), verdict_text(item)});
  }
  return table;
}

Table summary_table(const std::vector<GroupSummary>& groups) {
  Table table{
      "Geometric means of the speed-ups, and the share of the layers on which ours is faster. Where there are two "
      "figures, the second is that of a chain of programmatic dependent launches.",
      {text_column("device, type, cache"), {"N"}, {"layers"}, {"with a right kernel"}, {"ours, us"}},
      {}};
  for (const Rival rival : every_rival) {
    table.columns.push_back({"over " + print(rival, groups)});
  }
  for (const Rival rival : every_rival) {
    table.columns.push_back({"faster than " + print(rival, groups) + ", %"});
  }
  for (const GroupSummary& group : groups) {
    std::vector<std::string> row{print(group.setting), std::to_string(group.bcol), std::to_string(group.items.size()),
                                 std::to_string(group.right), with_digits(group.microseconds)};
    for (const Rival rival : every_rival) {
      row.push_back(plain_and_chain(group, rival, &Comparison::geometric_mean, false));
    }
    for (const Rival rival : every_rival) {
      row.push_back(plain_and_chain(group, rival, &Comparison::faster, true));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table verdict_table(const std::vector<GroupSummary>& groups) {
  constexpr std::array verdicts{Verdict::better, Verdict::worse, Verdict::same, Verdict::unsure};
  Table table{"How the best challenger compares with the schedule that held before, in numbers of items.",
              {text_column("device, type, cache"), {"N"}},
              {}};
  for (const Verdict verdict : verdicts) {
    table.columns.push_back({print(verdict)});
  }
  table.columns.push_back({"not decided"});
  for (const GroupSummary& group : groups) {
    std::vector<std::string> row{print(group.setting), std::to_string(group.bcol)};
    std::size_t decided = 0;
    for (const Verdict verdict : verdicts) {
      const auto found = group.verdicts.find(verdict);
      const std::size_t count = found == group.verdicts.end() ? 0 : found->second;
      decided += count;
      row.push_back(std::to_string(count));
    }
    row.push_back(std::to_string(group.items.size() - decided));
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table lost_table(const std::vector<ItemSummary>& items) {
  Table table{
      "Layers on which a library that is exact is faster than ours: do not use ours there.", lost_columns(), {}};
  table.columns.push_back(text_column("use"));
  table.columns.push_back({"us"});
  table.columns.push_back({"ours over it"});
  for (const ItemSummary& item : items) {
    const std::optional<double> theirs = time_of(item, Rival::best_exact);
    if (!theirs || (item.microseconds && *item.microseconds <= *theirs)) {
      continue;
    }
    std::vector<std::string> row = lost_cells(item);
    row.push_back(best_exact_name(item));
    row.push_back(with_digits(theirs));
    row.push_back(item.microseconds ? with_digits(*item.microseconds / *theirs) : "none of ours was right");
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table lost_to_tf32_table(const std::vector<ItemSummary>& items) {
  Table table{
      "Layers on which cuBLAS TF32 is faster than ours. It rounds A and B to 10 bits of mantissa; where a model bears "
      "that, use it there.",
      lost_columns(),
      {}};
  table.columns.push_back({"TF32, us"});
  table.columns.push_back({"ours over it"});
  for (const ItemSummary& item : items) {
    if (!item.tf32 || !item.microseconds || *item.microseconds <= *item.tf32) {
      continue;
    }
    std::vector<std::string> row = lost_cells(item);
    row.push_back(with_digits(item.tf32));
    row.push_back(with_digits(*item.microseconds / *item.tf32));
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace esc::tuning
