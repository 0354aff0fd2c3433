// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "generator/schedule/schedule_database.h"
#include "tuner/records/record.h"

namespace esc::tuning {

/// The candidates of a database that are expected to lose least on an item's layer, by `interpolate_classes`, the best
/// first, without repetitions, brought to the item's bCol; of these families, at most `count`. Worth a try whatever the
/// cost model says of them: on the H200 the best of 16 is within 2 % of the fastest measured schedule for 95, 82 and
/// 82 % of the layers at bCol 32, 64 and 128, with the layer left out of the database.
std::vector<Schedule> near_winners(const ScheduleDatabase& database, const WorkItem& item,
                                   const std::set<std::string>& families, std::size_t count = 16);

}  // namespace esc::tuning
