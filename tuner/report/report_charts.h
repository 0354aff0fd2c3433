// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "generator/report/table.h"
#include "tuner/report/group_summary.h"
#include "tuner/report/xy_chart.h"

namespace esc::tuning {

/// Speed-ups of each layer over the share of zeros: over the best exact library, over TF32, over cuSPARSE.
XyChart speed_up_chart(const GroupSummary& group);
/// The same in numbers.
Table speed_up_table(const GroupSummary& group);

/// For each number of columns of B the share of the layers whose speed-up over the rival is at most x.
XyChart distribution_chart(const std::vector<GroupSummary>& groups, Rival rival);
/// Its least, largest, and what is between.
Table distribution_table(const std::vector<GroupSummary>& groups, Rival rival);

/// The roofline's points in numbers.
Table roofline_table(const std::vector<GroupSummary>& groups);

}  // namespace esc::tuning
