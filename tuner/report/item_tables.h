// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "generator/report/table.h"
#include "tuner/report/group_summary.h"

namespace esc::tuning {

/// One row per item: layer, shape, zeros, bCol, winner and what the libraries take.
Table item_table(const std::vector<ItemSummary>& items);

/// One row per number of columns of B and setting: geometric means of the speed-ups and the shares of layers that are
/// faster.
Table summary_table(const std::vector<GroupSummary>& groups);

/// One row per number of columns of B and setting: how many items came to which verdict.
Table verdict_table(const std::vector<GroupSummary>& groups);

/// The items on which an exact library is faster than the winner, or where nothing of ours was right.
Table lost_table(const std::vector<ItemSummary>& items);

/// The same for TF32, which is less exact.
Table lost_to_tf32_table(const std::vector<ItemSummary>& items);

}  // namespace esc::tuning
