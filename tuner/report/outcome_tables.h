// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>

#include "generator/report/table.h"
#include "tuner/records/item_results.h"

namespace esc::tuning {

/// How many candidates came to which outcome, by what was measured.
Table outcome_table(const std::map<ItemKey, ItemResults>& items);

/// Every reason for which a candidate failed, with how many did and one of them; the most frequent first.
Table failure_table(const std::map<ItemKey, ItemResults>& items);

/// What was measured with, and how many items there are of each.
Table environment_table(const std::map<ItemKey, ItemResults>& items);

}  // namespace esc::tuning
