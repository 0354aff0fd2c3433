// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/stream_cost.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>

#include "generator/schedule/occupancy.h"
#include "generator/schedule/stream_schedule.h"

namespace esc {
namespace {

// All constants are fitted at once to 32,756 kernels of one H200 and one H100. Microseconds.
constexpr double launch = 0.236;
constexpr double of_block = 0.00347;      ///< of the grid
constexpr double of_bulk_copies = 0.205;  ///< of a block: barriers of the engine for bulk copies
constexpr double of_boxes = 0.52;         ///< more where it copies K tiles of B, whose description it reads first
constexpr double of_placing = 1.34;       ///< more where values are placed in shared memory
constexpr double of_copy = 0.27;  ///< latency of an iteration's copies, shared by the iterations that are on their way
constexpr double of_adding_warps = 0.065;
constexpr double of_copied_column = 0.012;       ///< of a K tile of B that lanes copy, for each column of C
constexpr double of_column_apart = 0.0294;       ///< the same where columns are not one after the other
constexpr double of_box_row = 0.00105;           ///< of a K tile of B that the engine copies
constexpr double of_first_iteration = 1.014;     ///< the latency of memory, and storing sums: of each block
constexpr double of_cluster = 1.39;              ///< to begin together, and to wait for each other's sums
constexpr double bytes_of_microsecond = 68'300;  ///< that a multiprocessor gets
constexpr double packed_tile_bytes = 4864;       ///< a packed tile of this many takes `of_bytes`

/// What the packed tiles of a kind of steps take: what the warp takes that has it, and what it takes of a
/// multiprocessor on which all warps are busy.
struct StepTimes {
  double of_packed_tile;       ///< latency of a packed tile
  double of_bytes;             ///< more for each `packed_tile_bytes` that it has
  double of_column;            ///< more for each column of C and 16 rows
  double of_busy_packed_tile;  ///< of a multiprocessor
  double of_busy_column;       ///< more for each column of C and 16 rows
};

StepTimes step_times(const StreamSchedule& schedule, const LayerShape& shape) {
  using Dense = StreamSchedule::Dense;
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

/// Rows of a K tile of B that the engine copies; 0 where lanes copy them.
int box_rows(const StreamSchedule& schedule, const LayerShape& shape) {
  return copies_boxes(schedule, shape.layout) ? schedule.columns_of_k_tile() : 0;
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

/// What the iterations of a multiprocessor's blocks have to do, in one iteration of each that resides there.
struct Iteration {
  double bytes = 0;  ///< microseconds of memory
  double boxes = 0;  ///< of the engine that copies
  double issue = 0;  ///< of all warps
  double warp = 0;   ///< of one
  double latency = 0;
};

Iteration iteration_of(const StreamSchedule& schedule, const LayerShape& shape, double packed_tile_share,
                       double resident, double k_tiles) {
  const StepTimes steps = step_times(schedule, shape);
  const double k_tile_share = static_cast<double>(schedule.columns_of_k_tile()) / StreamSchedule::k_tile_columns;
  const double of_iteration = std::min<double>(schedule.iteration_k_tiles(), k_tiles);
  const double columns = schedule.columns * k_tile_share * schedule.row_m16_tiles();
  const int rows = box_rows(schedule, shape);
  const double copied = schedule.columns * k_tile_share * (shape.layout == "kn" ? of_copied_column : of_column_apart);
  // Warps that have a K tile together share its steps, but not evenly.
  constexpr double even_share = 0.8;
  return {.bytes = resident * of_iteration *
                   (schedule.row_tiles * packed_tile_share * packed_tile_bytes +
                    StreamSchedule::k_tile_bytes * k_tile_share * schedule.columns) /
                   bytes_of_microsecond,
          .boxes = resident * of_iteration * rows * of_box_row,
          .issue = resident * of_iteration *
                   (schedule.row_tiles * (steps.of_busy_packed_tile + steps.of_busy_column * columns) +
                    (rows > 0 ? 0 : copied)),
          .warp = (steps.of_packed_tile + steps.of_bytes * packed_tile_share + steps.of_column * columns) /
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
  const double all_k_tiles = std::ceil(static_cast<double>(shape.columns) / schedule.columns_of_k_tile());
  const double k_tiles = std::ceil(all_k_tiles / schedule.cluster);
  const double iterations = std::ceil(k_tiles / std::max(1, schedule.iteration_k_tiles()));
  const double blocks = static_cast<double>(std::max<std::int64_t>(1, kernel.blocks));
  const double busiest =
      std::ceil(blocks / std::max(1, clustered_multiprocessors(device.multiprocessors, schedule.cluster)));
  const double beside = std::min<double>(busiest, resident);
  // A block takes the place of one that ends; a cluster has to wait until all of another one have.
  const double rounds = std::max(1.0, schedule.cluster > 2 ? std::ceil(busiest / resident) : busiest / resident);
  const double all_packed_tiles = std::ceil(static_cast<double>(shape.rows) / schedule.rows) * all_k_tiles;
  const double packed_tile_share =
      kernel.packed_bytes == 0 ? schedule.row_m16_tiles()
                               : static_cast<double>(kernel.packed_bytes) / (all_packed_tiles * packed_tile_bytes);
  const Iteration iteration = iteration_of(schedule, shape, packed_tile_share, beside, k_tiles);
  const double of_block_start = of_first_iteration + (schedule.is_placed() ? of_placing : 0) +
                                (schedule.copies == StreamSchedule::Copies::tma ? of_bulk_copies : 0) +
                                (copies_boxes(schedule, shape.layout) ? of_boxes : 0);

  cost.launch = launch + of_block * blocks + (schedule.cluster > 1 ? of_cluster : 0);
  cost.waiting = rounds * (of_block_start + iterations * iteration.latency);
  cost.traffic = rounds * iterations * iteration.bytes;
  cost.loads = rounds * iterations * iteration.boxes;
  cost.arithmetic = rounds * iterations * std::max(iteration.issue, iteration.warp);
  cost.reduction = schedule.warps > 1 ? rounds * of_adding_warps : 0;
  const double overlapped =
      together({iteration.bytes, iteration.boxes, iteration.issue, iteration.warp, iteration.latency});
  cost.microseconds = cost.launch + cost.waiting - rounds * iterations * iteration.latency +
                      rounds * iterations * overlapped + cost.reduction;
  return cost;
}

}  // namespace esc
