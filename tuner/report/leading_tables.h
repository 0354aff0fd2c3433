// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "generator/report/table.h"
#include "tuner/report/group_summary.h"

namespace esc::tuning {

// What a page begins with: how fast the layers are, and all of them together.

/// One row per number of columns of B: the times of all layers added up, ours and the best exact library's, of those
/// for which both are known.
Table total_table(const std::vector<GroupSummary>& groups);

/// One row per layer: our time for each number of columns of B, and in brackets the best exact library's over it.
Table layers_table(const std::vector<GroupSummary>& groups);

}  // namespace esc::tuning
