// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "generator/report/table.h"
#include "tuner/report/item_summary.h"
#include "tuner/report/xy_chart.h"

namespace esc::tuning {

/// What was measured in one night.
struct Night {
  std::string label;
  std::vector<ItemSummary> items;
};

/// One row per night: its items, the sum of the winners' times over the items for which every night has one, and what
/// has become of the items of the night before.
Table night_table(const std::vector<Night>& nights);

/// That sum of each night over that of the first.
XyChart night_chart(const std::vector<Night>& nights);

}  // namespace esc::tuning
