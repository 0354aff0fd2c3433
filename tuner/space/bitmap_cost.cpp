// SPDX-License-Identifier: Apache-2.0
#include "tuner/space/bitmap_cost.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tuner/space/occupancy.h"

namespace esc::tuning {
namespace {

// Of a multiprocessor, in a microsecond: a 132nd of 4 TB/s, 40 bytes a cycle of the second-level cache, and four instructions a cycle, of which two are reached.
constexpr double bytes_of_a = 30e3;
constexpr double bytes_of_b = 68e3;
constexpr double instructions = 3400;

// Of a warp in a unit: what counting and finding its words takes, and for every 8 columns of C the loads of B and the products.
constexpr double of_words = 560;
constexpr double of_eighth = 26;

constexpr double launch_and_store = 2.6;
constexpr double bytes_in_flight = 64 * 1024;  ///< that hide the latency of memory

}  // namespace

Cost bitmap_cost(const BitmapSchedule& schedule, const WorkItem& item, const KernelFacts& kernel) {
  Cost cost;
  const int resident = resident_blocks(kernel, sm_limits(item.device.capability));
  if (resident == 0) {
    cost.microseconds = std::numeric_limits<double>::infinity();
    return cost;
  }
  const auto up = [](double value, double divisor) { return std::ceil(value / divisor); };
  const double tiles = up(static_cast<double>(item.layer.columns), BitmapSchedule::tile_columns_of_a);
  const double panels = up(static_cast<double>(item.layer.rows), BitmapSchedule::panel_rows);
  const double blocks = static_cast<double>(std::max<std::int64_t>(1, kernel.blocks));
  const double busiest = up(blocks, std::max(1, item.device.multiprocessors));
  const double turns = up(tiles, schedule.warps);
  const double units = busiest * schedule.panels * turns * schedule.warps;
  const double unit_bytes = static_cast<double>(kernel.packed_bytes) / std::max(1.0, panels * tiles);
  const double in_flight = std::min<double>(busiest, resident) * (schedule.units - 1) * schedule.panels * schedule.warps * unit_bytes;
  cost.launch = launch_and_store;
  cost.traffic = units * unit_bytes / bytes_of_a * std::max(1.0, bytes_in_flight / (in_flight + unit_bytes));
  cost.loads = busiest * static_cast<double>(item.layer.columns) * schedule.columns * 2 / bytes_of_b;
  cost.arithmetic = units * (of_words + of_eighth * schedule.columns / 8) / instructions;
  cost.microseconds = cost.launch + std::max({cost.traffic, cost.loads, cost.arithmetic});
  return cost;
}

}  // namespace esc::tuning
