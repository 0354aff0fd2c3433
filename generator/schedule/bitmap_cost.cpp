// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/bitmap_cost.h"

#include <limits>

#include "generator/schedule/bitmap_schedules.h"
#include "generator/schedule/occupancy.h"

namespace esc {

Cost bitmap_cost(const BitmapSchedule& schedule, const LayerShape& shape, const DeviceKey& device,
                 const KernelFacts& kernel) {
  Cost cost;
  const bool fits = resident_blocks(kernel, sm_limits(device.capability)) > 0;
  cost.microseconds = fits ? expected_time(schedule, shape, kernel_target(device, {device.capability}))
                           : std::numeric_limits<double>::infinity();
  return cost;
}

}  // namespace esc
