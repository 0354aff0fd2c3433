// SPDX-License-Identifier: Apache-2.0
#include "tuner/space/bitmap_cost.h"

#include <limits>

#include "generator/schedule/bitmap_schedules.h"
#include "tuner/space/occupancy.h"

namespace esc::tuning {

Cost bitmap_cost(const BitmapSchedule& schedule, const WorkItem& item, const KernelFacts& kernel) {
  Cost cost;
  const bool fits = resident_blocks(kernel, sm_limits(item.device.capability)) > 0;
  cost.microseconds =
      fits ? expected_time(schedule, shape_of(item), kernel_target(item.device, {item.device.capability}))
           : std::numeric_limits<double>::infinity();
  return cost;
}

}  // namespace esc::tuning
