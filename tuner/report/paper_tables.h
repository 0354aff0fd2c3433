// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "generator/report/table.h"
#include "tuner/report/group_summary.h"

namespace esc::tuning {

/// The one schedule for all layers with some number of columns of B, and what it costs to have only one.
struct SingleSchedule {
  std::string schedule;
  std::size_t layers = 0;               ///< on which it was right and timed
  std::optional<double> over_cusparse;  ///< geometric means of speed-ups over the layers on which both were timed
  std::optional<double> over_fp32;
  double loss = 1;  ///< geometric mean of its time over that of the winner of each layer
};

/// The schedule whose times over the layers' winners have the least geometric mean, among those of the family ("" for
/// all) that were timed on nearly as many layers (95 %) as the one that was timed on the most: a search does not time
/// every schedule everywhere. Absent where none was timed.
std::optional<SingleSchedule> best_single_schedule(const GroupSummary& group,
                                                   const std::map<ItemKey, ItemResults>& items,
                                                   const std::string& family);

/// The paper's Table 1 for one setting, beside the paper's figures: geometric means of the speed-ups over the
/// libraries, by columns of B, and the share of the matrices on which ours is faster. The groups have to be of one
/// setting.
Table table_one(const std::vector<GroupSummary>& groups);

/// The paper's Table 2, beside the paper's figures: the best single schedule of all families and of the paper's own,
/// its speed-ups, and what it loses against the best schedule of each matrix.
Table table_two(const std::vector<GroupSummary>& groups, const std::map<ItemKey, ItemResults>& items);

/// Both tables of every setting in Markdown, to be pasted into a document.
std::string paper_tables(const std::vector<GroupSummary>& groups, const std::map<ItemKey, ItemResults>& items);

/// The groups of one setting together, in the order of the settings.
std::vector<std::vector<GroupSummary>> by_setting(const std::vector<GroupSummary>& groups);

}  // namespace esc::tuning
