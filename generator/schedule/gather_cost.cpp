// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/gather_cost.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "generator/schedule/gather_times.h"
#include "generator/schedule/occupancy.h"

namespace esc {
namespace {

// Microseconds; 572 kernels on an H100 take what they say within 5 % on average.
constexpr double launch_and_store = 2.1;
constexpr double of_step = 0.00243;  ///< of four rows, whatever the warps
constexpr double of_k_tile = 0.22;   ///< of a block: what warps wait for
constexpr double of_box = 0.24;      ///< as fast as a multiprocessor gets K tiles of B

}  // namespace

Cost gather_cost(const GatherSchedule& schedule, const LayerShape& shape, const DeviceKey& device,
                 const KernelFacts& kernel) {
  Cost cost;
  if (resident_blocks(kernel, sm_limits(device.capability)) == 0) {
    cost.microseconds = std::numeric_limits<double>::infinity();
    return cost;
  }
  const double blocks = static_cast<double>(std::max<std::int64_t>(1, kernel.blocks));
  const double busiest = std::ceil(blocks / std::max(1, device.multiprocessors));
  const double k_tiles = std::ceil(static_cast<double>(shape.columns) / GatherSchedule::k_tile_columns);
  const double entries =
      static_cast<double>(shape.nonzeros) / static_cast<double>(std::max<std::int64_t>(1, shape.rows)) +
      gather_times::filled_up * k_tiles;
  const double steps = schedule.warps * schedule.sets * entries;
  cost.launch = launch_and_store;
  cost.loads = busiest * steps * of_step * gather_times::slowed_by_few_warps(schedule);
  cost.traffic = busiest * k_tiles * of_box;
  cost.waiting = busiest * k_tiles * of_k_tile;
  cost.microseconds = cost.launch + std::max(cost.loads, cost.traffic) + cost.waiting;
  return cost;
}

}  // namespace esc
