// SPDX-License-Identifier: Apache-2.0
#include "tuner/space/stream_cost.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "generator/schedule/element_types.h"
#include "generator/schedule/stream_schedule.h"
#include "tuner/space/occupancy.h"

namespace esc::tuning {
namespace {

// Microseconds.
constexpr double launch_and_store = 1.3;
constexpr double of_block = 0.0002;      ///< of the grid
constexpr double of_unit = 0.13;         ///< of a multiprocessor, where enough bytes are on their way
constexpr double unit_bytes = 4864;      ///< that this is of, for 16 rows
constexpr double of_unit_alone = 0.05;   ///< more where a block's panels are not there to share its waits
constexpr double of_column = 0.13 / 80;  ///< of C, its products with a unit
constexpr double of_split_column =
    0.0045;  ///< the same where a product is three, and both factors are split in front of them
constexpr double of_rounded_column = 0.7 * of_split_column;  ///< and where it is one, of factors that are rounded
constexpr double of_element_of_b = 0.5;  ///< of that, which panels of 32 rows have once for both halves
constexpr double of_copied_column =
    0.13 / 25;  ///< the same for the copy of its rows of B, which the panels of a block share
constexpr double of_adding_warps = 0.1;
constexpr double of_cluster = 0.5;  ///< to begin together, and to wait for each other's sums
constexpr double of_quarters =
    0.4;  ///< of a turn that waits for nothing else, as the first two: finding the places of values that are stored
          ///< alone

// What is left of the time of a unit, and of the copies of rows of B, where they come by bulk copies: those of 16
// columns and more, and lines.
constexpr double of_bulk_unit = 0.97;
constexpr double of_boxes = 0.3;
constexpr double of_line = 1.2;  ///< of several rows, in place of one of these

/// What hides the latency of memory; with half of it a multiprocessor reads about a quarter slower.
constexpr double bytes_in_flight = 100 * 1024;
constexpr double of_missing_bytes = 0.5;
constexpr double enough_warps = 8;
constexpr double of_missing_warps = 0.3;

/// Of a column of C, its products with a unit.
double column_cost(const std::string& dtype, int strips) {
  const double of_strips = is_half_type(dtype) ? strips : strips - of_element_of_b * (strips - 1);
  return of_strips * (is_half_type(dtype) ? of_column : dtype == "tf32" ? of_rounded_column : of_split_column);
}

/// How much longer the products of float32 take than those of 8 steps of the sparse tensor core: with dense steps
/// always as long, else the longer the more steps a unit has.
double slowness_of_steps(const StreamSchedule& schedule, double of_bytes) {
  constexpr double of_dense_steps = 1.15;
  constexpr double of_placed_values = 0.8;
  constexpr double of_values_placed_ahead = 0.65;
  if (schedule.is_placed()) {
    return schedule.ahead ? of_values_placed_ahead : of_placed_values;
  }
  return schedule.dense != StreamSchedule::Dense::off ? of_dense_steps : std::max(1.0, of_bytes);
}

/// What is left of the copies of rows of B.
double copied_share(const StreamSchedule& schedule, const WorkItem& item) {
  const std::int64_t lines =
      schedule.copies == StreamSchedule::Copies::bulk && item.nest.layout == "kn" && is_half_type(item.dtype)
          ? line_rows_of_boxes(schedule.columns, item.layer.columns, item.product().count)
          : 1;
  return lines > 1                                  ? of_boxes * of_line / static_cast<double>(lines)
         : copies_boxes(schedule, item.nest.layout) ? of_boxes
                                                    : 1;
}

double missing(double there, double wanted) { return std::max(0.0, 1 - there / wanted); }

}  // namespace

Cost stream_cost(const StreamSchedule& schedule, const WorkItem& item, const KernelFacts& kernel) {
  Cost cost;
  const int resident = resident_blocks(kernel, sm_limits(item.device.capability));
  if (resident == 0 || (schedule.cluster > 1 && item.device.capability < StreamSchedule::cluster_architecture)) {
    cost.microseconds = std::numeric_limits<double>::infinity();
    return cost;
  }
  const double all_windows =
      std::ceil(static_cast<double>(item.layer.columns) / schedule.columns_of_window(bytes_of_type(item.dtype)));
  const double of_whole_window = static_cast<double>(schedule.columns_of_window(bytes_of_type(item.dtype))) /
                                 StreamSchedule::window_columns(bytes_of_type(item.dtype));
  const double windows = std::ceil(all_windows / schedule.cluster);
  const double blocks = static_cast<double>(std::max<std::int64_t>(1, kernel.blocks));
  const double busiest = std::ceil(blocks / std::max(1, item.device.multiprocessors));
  const double units = busiest * schedule.panels * windows;
  const double all_units = std::ceil(static_cast<double>(item.layer.rows) / schedule.rows) * all_windows;
  const double of_bytes = kernel.packed_bytes == 0
                              ? schedule.row_strips()
                              : static_cast<double>(kernel.packed_bytes) / (all_units * unit_bytes);
  const double together = std::min<double>(busiest, resident);
  const double turns = std::ceil(windows / schedule.turn_windows());
  const double staged = static_cast<double>(kernel.shared_bytes) / schedule.stages;
  const double ahead = std::min<double>(schedule.stages - 1, turns);
  const double slowdown =
      1 + of_missing_bytes * missing(together * ahead * staged, std::min(bytes_in_flight, turns * staged * busiest)) +
      of_missing_warps *
          missing(together * schedule.panels * std::min<double>(schedule.warps, windows * schedule.share),
                  enough_warps);

  cost.launch = launch_and_store + of_block * blocks;
  const bool bulk = schedule.copies != StreamSchedule::Copies::lanes;
  const double copied = of_copied_column * copied_share(schedule, item);
  cost.traffic = units * of_bytes * of_unit * (bulk ? of_bulk_unit : 1);
  cost.waiting = cost.traffic * (slowdown - 1) + units / schedule.panels * of_unit_alone;
  const double products =
      column_cost(item.dtype, schedule.row_strips()) *
      (is_half_type(item.dtype) ? 1 : slowness_of_steps(schedule, of_bytes / schedule.row_strips()));
  cost.loads = units * of_whole_window * schedule.columns * (products + copied / schedule.panels);
  cost.waiting += schedule.quarters ? of_quarters * std::min(turns, 2.0) : 0;
  cost.reduction = (schedule.warps > 1 ? of_adding_warps : 0) + (schedule.cluster > 1 ? of_cluster : 0);
  cost.microseconds = cost.launch + cost.traffic + cost.waiting + cost.loads + cost.reduction;
  return cost;
}

}  // namespace esc::tuning
