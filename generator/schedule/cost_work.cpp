// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/cost_work.h"

#include <algorithm>
#include <cmath>

#include "generator/schedule/element_types.h"
#include "generator/schedule/kernel_estimate.h"

namespace esc {
namespace {

constexpr double line_bytes = 128;
/// Instructions of a warp outside of its loop, and of one iteration beside its loads and multiplications.
constexpr double fixed_instructions = 18;
constexpr double loop_instructions = 6;
/// Of a load of B: the address in two and the load itself.
constexpr double load_instructions = 3;
/// Lists of columns end in the middle of an iteration: what of one is lost on average.
constexpr double lost_iteration = 0.3;

double line_elements(const LayerShape& shape) { return line_bytes / bytes_of_type(shape.dtype); }

/// Cache lines of B that `columns` of its columns have: where B is narrow, its rows share them.
double lines_of_b(const LayerShape& shape, double columns) {
  if (!shape.contiguous) {
    return columns * std::max(1.0, static_cast<double>(shape.columns) / line_elements(shape));
  }
  const double narrow = std::min(1.0, static_cast<double>(shape.bcol) / line_elements(shape));
  return static_cast<double>(shape.columns) * std::max(1.0, columns / line_elements(shape)) * narrow;
}

/// How a warp gets elements of B: instructions of a lane for each column of A, and cache lines that each of them
/// touches.
struct DenseLoads {
  double of_column = 1;
  double lines = 1;
};

/// Of lanes that move `vector` columns of C; `groups` of those that share them are in one warp, as many as `sharing`
/// of which take columns of A side by side. A column of A follows the one before it at `distance` columns, on
/// average.
DenseLoads dense_loads(const LayerShape& shape, int columns, int vector, double groups, double sharing,
                       double distance) {
  if (shape.contiguous) {
    return {1, groups * std::max(1.0, columns / line_elements(shape))};
  }
  const double rows_of_b = static_cast<double>(columns) / vector;
  return {static_cast<double>(vector),
          rows_of_b * groups / sharing * std::clamp(sharing * distance / line_elements(shape), 1.0, sharing)};
}

double tiles_of(const LayerShape& shape, int columns) { return std::ceil(static_cast<double>(shape.bcol) / columns); }

/// Instructions with which the lane groups of a warp, and then the warps of a row tile, add up their sums.
double reduction_instructions(const PanelSchedule& schedule) {
  const double sums = schedule.ufi * schedule.vector;
  const double by_shuffles = 2 * sums * (1 - 1.0 / schedule.groups);
  if (schedule.warps == 1) {
    return by_shuffles;
  }
  const double stores = sums / std::clamp<double>(schedule.groups, 1, sums);
  const double outputs = static_cast<double>(schedule.row_tiles) * schedule.ufi * schedule.columns;
  const double loads = 2 * schedule.warps * outputs / (schedule.threads() * schedule.vector);
  return by_shuffles + stores + loads;
}

}  // namespace

Work work_of(const PanelSchedule& schedule, const LayerShape& shape) {
  const RowTileLength row_tile = row_tile_length(shape, schedule.ufi);
  const double lists = schedule.warps * schedule.groups;
  // A warp is as slow as the longest of its row tiles.
  const double of_warp = row_tile.mean * (1 + (schedule.warp_row_tiles() > 1 ? row_tile.variation / 2 : 0));
  const double iterations = std::max(1.0, of_warp / lists / schedule.ufk + lost_iteration);
  const double packets = schedule.ufk / 4.0;
  const double groups = schedule.warp_groups();
  // Columns of a round are dealt in turn to the lane groups where they are staged; else each group has four that follow
  // each other.
  const double distance = static_cast<double>(shape.columns) / std::max(1.0, row_tile.mean) * (schedule.stage ? 1 : 4);
  const DenseLoads loads = dense_loads(shape, schedule.columns, schedule.vector, groups, schedule.groups, distance);
  const double packet_bytes = groups * (8 + 4 * value_bytes(shape.dtype) * schedule.ufi);
  const double of_iteration =
      packets * (4 * (load_instructions * loads.of_column + schedule.ufi * schedule.vector) + 2 + schedule.ufi) +
      loop_instructions;
  const double reduction = reduction_instructions(schedule);

  const double tiles = tiles_of(shape, schedule.columns);
  const double blocks = std::ceil(static_cast<double>(shape.rows) / (schedule.ufi * schedule.row_tiles)) * tiles;
  const double warps = blocks * schedule.block_warps();
  const double all_iterations = warps * iterations;
  return {.block_warps = static_cast<double>(schedule.block_warps()),
          // More packets at once were measured to be no faster.
          .chain = packets * std::max(1.0, std::ceil(row_tile.longest / lists / schedule.ufk)),
          .staged = schedule.stage,
          .instructions = all_iterations * of_iteration + warps * (fixed_instructions + 2 * reduction),
          .wavefronts = all_iterations * packets *
                            (4 * std::max<double>(schedule.vector, loads.of_column * loads.lines) +
                             (1 + schedule.ufi) * std::max(1.0, groups / 8)) +
                        warps * reduction,
          .sparse_lines = all_iterations * packets * packet_bytes / line_bytes + warps,
          .dense_lines = all_iterations * packets * 4 * loads.of_column * loads.lines,
          .distinct_lines = lines_of_b(shape, schedule.columns),
          .tiles = tiles,
          .adds_warps = schedule.warps > 1};
}

Work work_of(const RowsSchedule& schedule, const LayerShape& shape) {
  const TaskCounts tasks = task_counts(shape, schedule);
  const double groups = schedule.warp_groups();
  const double tiles = tiles_of(shape, schedule.columns);
  const double light_warps = tasks.light / groups;
  const double warps = (tasks.heavy + light_warps) * tiles;
  const double heavy_iterations = tasks.heavy_nonzeros / (groups * schedule.unroll) + tasks.heavy * lost_iteration;
  const double light_iterations = tasks.light_nonzeros / (groups * schedule.unroll) + light_warps * lost_iteration;
  const double iterations = std::max(warps, (heavy_iterations + light_iterations) * tiles);
  const double longest_row = std::max(static_cast<double>(shape.longest_row),
                                      static_cast<double>(shape.nonzeros) / static_cast<double>(shape.rows));
  const double longest_heavy = tasks.heavy < 1 ? 0 : std::min<double>(schedule.task, longest_row) / groups;
  const double longest_light = tasks.light < 1 ? 0 : std::min<double>(schedule.light, longest_row);
  const double distance = static_cast<double>(shape.columns) * static_cast<double>(shape.rows) /
                          std::max(1.0, static_cast<double>(shape.nonzeros));
  const DenseLoads loads = dense_loads(shape, schedule.columns, schedule.vector, groups, groups, distance);
  const double of_iteration =
      schedule.unroll * ((1 + loads.of_column) * load_instructions + schedule.vector) + loop_instructions;
  return {.block_warps = static_cast<double>(schedule.warps),
          // Each iteration waits for columns and values, then for B.
          .chain = 1 + 2 * std::max(1.0, std::ceil(std::max(longest_heavy, longest_light) / schedule.unroll)),
          .instructions = iterations * of_iteration + warps * 2 * fixed_instructions,
          .wavefronts =
              iterations * schedule.unroll * (1 + std::max<double>(schedule.vector, loads.of_column * loads.lines)),
          .sparse_lines = (8.0 * static_cast<double>(shape.nonzeros) * tiles + 16 * warps) / line_bytes,
          .dense_lines = iterations * schedule.unroll * loads.of_column * loads.lines,
          .distinct_lines = lines_of_b(shape, schedule.columns),
          .tiles = tiles,
          .extra_passes = tasks.splits ? 1.0 : 0.0};
}

Work work_of(const AtomicSchedule& schedule, const LayerShape& shape) {
  const ListCounts counts = list_counts(shape, schedule.ufi);
  const double block_warps = schedule.threads / 32.0;
  const double warps = counts.lists * block_warps;
  // Warps that have no columns of their own leave at once; the others go on until all columns are done.
  const double passes = std::ceil(static_cast<double>(shape.bcol) / (32 * schedule.warptile));
  const double iterations = (counts.columns / schedule.ufk + counts.lists * lost_iteration) * passes;
  const double columns_of_list = counts.lists > 0 ? counts.columns / counts.lists : 0;
  const double rows = counts.columns > 0 ? static_cast<double>(shape.nonzeros) / counts.columns : 0;
  const double sums = rows * counts.lists * passes * schedule.warptile;
  const double of_iteration =
      schedule.ufk * (2 * load_instructions + schedule.warptile * (1 + rows) + rows) + loop_instructions;
  return {.block_warps = block_warps,
          .chain = 1 + 2 * std::ceil(columns_of_list / schedule.ufk) * std::ceil(passes / block_warps),
          .instructions = iterations * of_iteration + warps * 2 * fixed_instructions + sums,
          .wavefronts = iterations * schedule.ufk * (1 + rows + schedule.warptile) + 2 * sums,
          .sparse_lines = (6 * counts.columns + 4 * static_cast<double>(shape.nonzeros)) * passes / line_bytes + warps,
          .dense_lines = iterations * schedule.ufk * schedule.warptile,
          .distinct_lines = lines_of_b(shape, static_cast<double>(shape.bcol)),
          .extra_passes = 1};
}

}  // namespace esc
