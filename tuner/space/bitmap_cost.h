// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/schedule/bitmap_schedule.h"
#include "tuner/records/record.h"
#include "tuner/space/cost.h"

namespace esc::tuning {

/// What a schedule of family bitmap is predicted to take: what auto expects, where a block fits.
Cost bitmap_cost(const BitmapSchedule& schedule, const WorkItem& item, const KernelFacts& kernel);

}  // namespace esc::tuning
