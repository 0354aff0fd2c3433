// SPDX-License-Identifier: Apache-2.0
#include "tuner/regret/regret_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "generator/report/table.h"
#include "generator/support/json_result.h"

namespace esc::tuning {
namespace {

using nlohmann::json;

std::string percent_above(std::optional<double> ratio) {
  return ratio ? fmt::format("{:.1f}", 100 * (*ratio - 1)) : "no data";
}

std::string names_of(const std::vector<Dimension>& dimensions) {
  std::string names;
  for (const Dimension dimension : dimensions) {
    names += (names.empty() ? "" : ", ") + print(dimension);
  }
  return names;
}

Table to_table(const RegretTable& regret) {
  Table table{
      .title = fmt::format("Slower than the best schedule that was measured, %, by {}", names_of(regret.dimensions)),
      .columns = {},
      .rows = {}};
  for (const Dimension dimension : regret.dimensions) {
    table.columns.push_back(text_column(print(dimension)));
  }
  table.columns.insert(table.columns.end(), {text_column("chooser"),
                                             {"items"},
                                             {"judged"},
                                             {"geometric mean"},
                                             {"90 % of them below"},
                                             {"worst"},
                                             {"choice not measured"},
                                             {"mean of the others"}});
  for (std::size_t group = 0; group < regret.choosers.front().groups.size(); ++group) {
    for (const ChooserRegret& chooser : regret.choosers) {
      const RegretGroup& one = chooser.groups[group];
      std::vector<std::string> row = one.key;
      row.insert(row.end(), {chooser.chooser, fmt::format("{}", one.items), fmt::format("{}", one.judged),
                             percent_above(one.mean), percent_above(one.percentile_90), percent_above(one.worst),
                             fmt::format("{}", one.not_measured), percent_above(one.measured_mean)});
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

json number(std::optional<double> value) { return value ? json(*value) : json(nullptr); }

json to_json(const RegretGroup& group) {
  return {{"items", group.items},
          {"judged", group.judged},
          {"geometric_mean", number(group.mean)},
          {"percentile_90", number(group.percentile_90)},
          {"worst", number(group.worst)},
          {"worst_item", group.worst ? json(group.worst_item) : json(nullptr)},
          {"choice_not_measured", group.not_measured},
          {"geometric_mean_where_measured", number(group.measured_mean)}};
}

json to_json(const RegretTable& table) {
  json groups = json::array();
  for (const ChooserRegret& chooser : table.choosers) {
    for (const RegretGroup& group : chooser.groups) {
      json one = to_json(group);
      one["chooser"] = chooser.chooser;
      for (std::size_t at = 0; at < table.dimensions.size(); ++at) {
        if (table.dimensions[at] == Dimension::type) {
          set_renamed(one, "dtype", "type", group.key[at]);
        } else {
          one[print(table.dimensions[at])] = group.key[at];
        }
      }
      groups.push_back(std::move(one));
    }
  }
  return groups;
}

}  // namespace

bool is_met(const RegretGroup& group, const RegretLimits& limits) {
  return group.judged > 0 && (!limits.mean || *group.mean <= *limits.mean) &&
         (!limits.worst || *group.worst <= *limits.worst);
}

bool is_met(const RegretTable& table, const RegretLimits& limits) {
  return std::ranges::all_of(table.choosers, [&](const ChooserRegret& chooser) {
    return std::ranges::all_of(chooser.groups, [&](const RegretGroup& one) { return is_met(one, limits); });
  });
}

std::string print(const MeasuredItems& items, const std::vector<RegretTable>& tables) {
  std::string text = fmt::format(
      "{} items have schedules to choose from, of {} times. Left out: {} times of schedules that are gone, {} times of "
      "matrices whose size is not known. Items that have no schedule any more and are to be measured anew: {}.\n",
      items.items.size(), items.records, items.gone, items.of_unknown_matrices, items.emptied);
  for (const RegretTable& table : tables) {
    text += "\n" + markdown(to_table(table));
  }
  return text;
}

std::string to_json(const MeasuredItems& items, const std::vector<RegretTable>& tables, const std::string& status) {
  json by = json::array();
  for (const RegretTable& table : tables) {
    json dimensions = json::array();
    for (const Dimension dimension : table.dimensions) {
      dimensions.push_back(print(dimension));
    }
    by.push_back({{"by", dimensions}, {"groups", to_json(table)}});
  }
  return json_result("regret", status,
                     {{"items", items.items.size()},
                      {"times", items.records},
                      {"times_of_gone_schedules", items.gone},
                      {"times_of_unknown_matrices", items.of_unknown_matrices},
                      {"items_to_measure_anew", items.emptied},
                      {"tables", by}});
}

std::string items_csv(const std::vector<std::pair<std::string, std::vector<Judgement>>>& by_chooser) {
  Table table{
      .title = {}, .columns = {text_column("chooser"), text_column("journal"), text_column("matrix")}, .rows = {}};
  for (const Dimension dimension : every_dimension) {
    table.columns.push_back(text_column(print(dimension)));
  }
  for (const char* const name : {"rows", "columns of A", "non-zeros", "schedules", "ratio"}) {
    table.columns.push_back({name});
  }
  for (const char* const name : {"chosen of the measured", "best", "choice"}) {
    table.columns.push_back(text_column(name));
  }
  for (const auto& [chooser, judgements] : by_chooser) {
    for (const Judgement& one : judgements) {
      const MeasuredItem& item = *one.item;
      std::vector<std::string> row{chooser, item.journal, item.work.layer.file};
      for (const Dimension dimension : every_dimension) {
        row.push_back(value_of(item, dimension));
      }
      const std::optional<double> ratio = one.ratio();
      row.insert(row.end(), {fmt::format("{}", item.shape.rows), fmt::format("{}", item.shape.columns),
                             fmt::format("{}", item.shape.nonzeros), fmt::format("{}", item.schedules.size()),
                             with_digits(ratio, 3), ratio ? print(item.schedules[*one.chosen.measured].schedule) : "-",
                             print(item.schedules[item.best].schedule), print(one.chosen.free)});
      table.rows.push_back(std::move(row));
    }
  }
  return csv(table);
}

}  // namespace esc::tuning
