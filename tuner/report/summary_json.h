// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tuner/report/group_summary.h"

namespace esc::tuning {

/// What `esctune show` prints, as JSON: the items, the summaries by columns of B, and the numbers of candidates by
/// outcome. `status` is what became of the command.
std::string to_json(const std::vector<ItemSummary>& summaries, const std::map<ItemKey, ItemResults>& items,
                    const std::string& status = "done");

/// The same of one item, which has its candidates beside the rest: schedule, outcome, microseconds and detail.
std::string layer_json(const ItemResults& results, const std::string& status);

}  // namespace esc::tuning
