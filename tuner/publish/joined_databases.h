// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "generator/schedule/schedule_database.h"

namespace esc::tuning {

/// What a file of a device and an element type has when `made`, of those and each of another layout, is written over
/// `there`, which it had: of a layout and a number of columns that `made` has entries of, those; else what was there,
/// if that is of the same device and origin. In the order of `made`, then of `there`.
std::vector<ScheduleDatabase> joined_databases(std::vector<ScheduleDatabase> made,
                                               const std::vector<ScheduleDatabase>& there);

}  // namespace esc::tuning
