// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tuner/regret/regret_groups.h"

namespace esc::tuning {

/// What a chooser loses on each group of one table.
struct ChooserRegret {
  std::string chooser;
  std::vector<RegretGroup> groups;
};

/// Choosers beside each other, on the same groups.
struct RegretTable {
  std::vector<Dimension> dimensions;
  std::vector<ChooserRegret> choosers;
};

/// What a choice may lose on each group: ratios, as of `Judgement`.
struct RegretLimits {
  std::optional<double> mean = {};
  std::optional<double> worst = {};
};

/// Whether a group is within the limits. One without a judgement is not: what it loses is not known.
bool is_met(const RegretGroup& group, const RegretLimits& limits);
bool is_met(const RegretTable& table, const RegretLimits& limits);

/// Markdown: what was left out, and a table for each.
std::string print(const MeasuredItems& items, const std::vector<RegretTable>& tables);
/// The same as JSON, with the worst item of each group. `status` is what became of the command.
std::string to_json(const MeasuredItems& items, const std::vector<RegretTable>& tables,
                    const std::string& status = "done");
/// A line of comma-separated values for each item and chooser.
std::string items_csv(const std::vector<std::pair<std::string, std::vector<Judgement>>>& by_chooser);

}  // namespace esc::tuning
