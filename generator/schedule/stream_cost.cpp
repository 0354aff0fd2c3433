// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/stream_cost.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>

#include "generator/schedule/element_types.h"
#include "generator/schedule/occupancy.h"
#include "generator/schedule/stream_schedule.h"

namespace esc {
namespace {

// All constants are fitted at once to 32,756 kernels of one H200 and one H100. Microseconds.
constexpr double launch = 0.236;
constexpr double of_block = 0.00347;      ///< of the grid
constexpr double of_bulk_copies = 0.205;  ///< of a block: barriers of the engine for bulk copies
constexpr double of_boxes = 0.52;         ///< more where it copies windows of B, whose description it reads first
constexpr double of_placing = 1.34;       ///< more where values are placed in shared memory
constexpr double of_copy = 0.27;          ///< latency of a turn's copies, shared by the turns that are on their way
constexpr double of_adding_warps = 0.065;
constexpr double of_quarters = 0.4;         ///< of a turn that waits for nothing else, as the first two: finding places
constexpr double of_copied_column = 0.012;  ///< of a window of B that lanes copy, for each column of C
constexpr double of_column_apart = 0.0294;  ///< the same where columns do not stand one behind the other
constexpr double of_box_row = 0.00105;      ///< of a window of B that the engine copies
constexpr double of_line = 1.2;             ///< of several rows, in place of one of these

/// What depends on the size of elements.
struct ElementTimes {
  double of_first_turn;         ///< the latency of memory, and storing sums: of each block
  double of_cluster;            ///< to begin together, and to wait for each other's sums
  double bytes_of_microsecond;  ///< that a multiprocessor gets
};

ElementTimes element_times(const std::string& dtype) {
  return is_half_type(dtype) ? ElementTimes{1.24, 0.466, 208'700} : ElementTimes{1.014, 1.39, 68'300};
}

constexpr double unit_bytes = 4864;  ///< of 16 rows and 8 steps of 16 bits: a unit of this many takes `of_bytes`

/// What the units of a kind of steps take: what the warp takes that has it, and what it takes of a multiprocessor on
/// which all warps are busy.
struct StepTimes {
  double of_unit;         ///< latency of a unit
  double of_bytes;        ///< more for each `unit_bytes` that it has
  double of_column;       ///< more for each column of C and 16 rows
  double of_busy_unit;    ///< of a multiprocessor
  double of_busy_column;  ///< more for each column of C and 16 rows
};

StepTimes step_times(const StreamSchedule& schedule, const LayerShape& shape) {
  using Dense = StreamSchedule::Dense;
  if (is_half_type(shape.dtype)) {
    return {0.331, 0.313, 0.000164, 0.0805, 0.00195};
  }
  const bool is_rounded = shape.dtype == "tf32";
  switch (schedule.dense) {
    case Dense::on:
      return is_rounded ? StepTimes{0.0491, 0.0158, 0.00693, 0.00118, 0.00272}
                        : StepTimes{0.877, 0.00415, 0.0121, 0.00194, 0.00781};
    case Dense::listed:
      return is_rounded ? StepTimes{1.1, 0.154, 0.00408, 0.000767, 0.00415}
                        : StepTimes{1.45, 0.288, 0.00757, 0.00296, 0.00895};
    case Dense::placed:
      if (schedule.ahead) {
        return is_rounded ? StepTimes{0.771, 0.243, 0.00752, 0.0105, 0.000184}
                          : StepTimes{1.2, 0.487, 0.0118, 0.0106, 0.000277};
      }
      return is_rounded ? StepTimes{0.157, 0.899, 0.0185, 0.0244, 0.00201}
                        : StepTimes{0.246, 1.09, 0.0274, 0.0274, 0.00419};
    case Dense::off:
      break;
  }
  if (is_rounded) {
    return {0.71, 0.00184, 0.0121, 0.00285, 0.00455};
  }
  return shape.layout == "kn" ? StepTimes{0.869, 0.0157, 0.014, 0.112, 0.00667}
                              : StepTimes{0.0037, 0.409, 0.0434, 0.0134, 0.00538};
}

/// Rows of a window of B that the engine copies, as long as one of these takes each; 0 where lanes copy them.
double box_rows(const StreamSchedule& schedule, const LayerShape& shape) {
  if (!copies_boxes(schedule, shape.layout)) {
    return 0;
  }
  const double rows = schedule.columns_of_window(bytes_of_type(shape.dtype));
  const std::int64_t lines = shape.layout == "kn" && is_half_type(shape.dtype)
                                 ? line_rows_of_boxes(schedule.columns, shape.columns, shape.bcol)
                                 : 1;
  return lines > 1 ? rows * of_line / static_cast<double>(lines) : rows;
}

/// Times that overlap in part.
double together(std::initializer_list<double> times) {
  constexpr double overlap = 3;
  double sum = 0;
  for (const double time : times) {
    sum += std::pow(time, overlap);
  }
  return std::pow(sum, 1 / overlap);
}

/// What the turns of a multiprocessor's blocks have to do, in one turn of each that resides there.
struct Turn {
  double bytes = 0;  ///< microseconds of memory
  double boxes = 0;  ///< of the engine that copies
  double issue = 0;  ///< of all warps
  double warp = 0;   ///< of one
  double latency = 0;
};

Turn turn_of(const StreamSchedule& schedule, const LayerShape& shape, double unit_share, double resident,
             double windows) {
  const StepTimes steps = step_times(schedule, shape);
  const int element_bytes = bytes_of_type(shape.dtype);
  const double window_share =
      static_cast<double>(schedule.columns_of_window(element_bytes)) / StreamSchedule::window_columns(element_bytes);
  const double of_turn = std::min<double>(schedule.turn_windows(), windows);
  const double columns = schedule.product_columns() * window_share * schedule.row_strips();
  const double rows = box_rows(schedule, shape);
  const double copied = schedule.columns * window_share * (shape.layout == "kn" ? of_copied_column : of_column_apart);
  // Warps that have a window together share its steps, but not evenly.
  constexpr double even_share = 0.8;
  return {.bytes = resident * of_turn *
                   (schedule.panels * unit_share * unit_bytes +
                    StreamSchedule::window_bytes * window_share * schedule.columns) /
                   element_times(shape.dtype).bytes_of_microsecond,
          .boxes = resident * of_turn * rows * of_box_row,
          .issue = resident * of_turn *
                   (schedule.panels * (steps.of_busy_unit + steps.of_busy_column * columns) + (rows > 0 ? 0 : copied)),
          .warp = (steps.of_unit + steps.of_bytes * unit_share + steps.of_column * columns) /
                  std::pow(schedule.share, even_share),
          .latency = of_copy / std::max(1, schedule.stages - 1)};
}

}  // namespace

Cost stream_cost(const StreamSchedule& schedule, const LayerShape& shape, const DeviceKey& device,
                 const KernelFacts& kernel) {
  Cost cost;
  const int resident = resident_blocks(kernel, sm_limits(device.capability));
  if (resident == 0 || (schedule.cluster > 1 && device.capability < StreamSchedule::cluster_architecture)) {
    cost.microseconds = std::numeric_limits<double>::infinity();
    return cost;
  }
  const double all_windows =
      std::ceil(static_cast<double>(shape.columns) / schedule.columns_of_window(bytes_of_type(shape.dtype)));
  const double windows = std::ceil(all_windows / schedule.cluster);
  const double turns = std::ceil(windows / std::max(1, schedule.turn_windows()));
  const double blocks = static_cast<double>(std::max<std::int64_t>(1, kernel.blocks));
  const double busiest =
      std::ceil(blocks / std::max(1, clustered_multiprocessors(device.multiprocessors, schedule.cluster)));
  const double beside = std::min<double>(busiest, resident);
  // A block takes the place of one that ends; a cluster has to wait until all of another one have.
  const double rounds = std::max(1.0, schedule.cluster > 2 ? std::ceil(busiest / resident) : busiest / resident);
  const double all_units = std::ceil(static_cast<double>(shape.rows) / schedule.rows) * all_windows;
  const double unit_share = kernel.packed_bytes == 0
                                ? schedule.row_strips()
                                : static_cast<double>(kernel.packed_bytes) / (all_units * unit_bytes);
  const Turn turn = turn_of(schedule, shape, unit_share, beside, windows);
  const ElementTimes elements = element_times(shape.dtype);
  const double of_block_start = elements.of_first_turn + (schedule.is_placed() ? of_placing : 0) +
                                (schedule.copies == StreamSchedule::Copies::bulk ? of_bulk_copies : 0) +
                                (copies_boxes(schedule, shape.layout) ? of_boxes : 0);

  cost.launch = launch + of_block * blocks + (schedule.cluster > 1 ? elements.of_cluster : 0);
  cost.waiting =
      rounds * (of_block_start + turns * turn.latency) + (schedule.quarters ? of_quarters * std::min(turns, 2.0) : 0);
  cost.traffic = rounds * turns * turn.bytes;
  cost.loads = rounds * turns * turn.boxes;
  cost.arithmetic = rounds * turns * std::max(turn.issue, turn.warp);
  cost.reduction = schedule.warps > 1 ? rounds * of_adding_warps : 0;
  const double overlapped = together({turn.bytes, turn.boxes, turn.issue, turn.warp, turn.latency});
  cost.microseconds =
      cost.launch + cost.waiting - rounds * turns * turn.latency + rounds * turns * overlapped + cost.reduction;
  return cost;
}

}  // namespace esc
