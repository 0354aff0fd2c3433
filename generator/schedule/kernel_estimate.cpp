// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/kernel_estimate.h"

#include <algorithm>
#include <cmath>

#include "generator/schedule/bitmap_cost.h"
#include "generator/schedule/element_types.h"
#include "generator/schedule/stream_packed_tile_bytes.h"

namespace esc {
namespace {

std::int64_t whole_up(double value) { return static_cast<std::int64_t>(std::ceil(value)); }

/// Bytes of a column index.
int column_bytes(const LayerShape& shape) { return shape.columns <= 65'536 ? 2 : 4; }

/// The share of a normal distribution that is above `value` standard deviations.
double share_above(double value) { return std::erfc(value / std::sqrt(2.0)) / 2; }

}  // namespace

RowTileLength row_tile_length(const LayerShape& shape, int height) {
  const double mean = static_cast<double>(shape.columns) * (1 - std::pow(1 - shape.density(), height));
  const double variation = shape.row_variation / std::sqrt(height);
  double most = static_cast<double>(shape.columns);
  if (shape.longest_row > 0) {
    most = std::min(most, static_cast<double>(shape.longest_row) * height);
  }
  return {.mean = mean, .longest = std::max(mean, std::min(most, mean * (1 + 2 * variation))), .variation = variation};
}

TaskCounts task_counts(const LayerShape& shape, const RowsSchedule& schedule) {
  const auto rows = static_cast<double>(shape.rows);
  const auto nonzeros = static_cast<double>(shape.nonzeros);
  if (nonzeros == 0) {
    return {.light = rows};
  }
  // The least spread keeps the division below defined where all rows are equally long.
  const double spread = std::sqrt(std::log(1 + std::max(1e-4, shape.row_variation * shape.row_variation)));
  const double at_light = (std::log(schedule.light) - std::log(nonzeros / rows)) / spread;
  const double heavy_rows = rows * share_above(at_light + spread / 2);
  const double heavy_nonzeros = nonzeros * share_above(at_light - spread / 2);
  return {.heavy = heavy_rows + heavy_nonzeros / schedule.task,
          .heavy_nonzeros = heavy_nonzeros,
          .light = rows - heavy_rows,
          .light_nonzeros = nonzeros - heavy_nonzeros,
          .splits = shape.longest_row > schedule.task};
}

ListCounts list_counts(const LayerShape& shape, int height) {
  const double row_tiles = std::ceil(static_cast<double>(shape.rows) / height);
  const auto columns = static_cast<double>(shape.columns);
  ListCounts counts;
  double patterns = 1;
  for (int nonzeros = 1; nonzeros <= height; ++nonzeros) {
    patterns = patterns * (height - nonzeros + 1) / nonzeros;
    const double chance = std::pow(shape.density(), nonzeros) * std::pow(1 - shape.density(), height - nonzeros);
    counts.lists += row_tiles * patterns * (1 - std::pow(1 - chance, columns));
    counts.columns += row_tiles * patterns * chance * columns;
  }
  return counts;
}

KernelFacts estimated_kernel(const PanelSchedule& schedule, const LayerShape& shape) {
  const int packets = schedule.ufk / 4;
  const int words = value_bytes(shape.dtype) / 4;
  const int further_sums = std::max(0, schedule.vector - PanelSchedule::max_vector) * schedule.ufi;
  const int numbers = further_sums + (schedule.stage ? 14 * packets + (4 + 2 * packets) * schedule.ufi
                                                     : 20 * packets + (4 + 6 * packets) * schedule.ufi);
  constexpr int most = 255;  // of a thread; a block whose threads do not have what they need would spill
  const int registers = std::min(most, (schedule.stage ? 20 : 24) + words * numbers);
  const int packet_bytes = 4 * (column_bytes(shape) + 4 * words * schedule.ufi);
  const RowTileLength length = row_tile_length(shape, schedule.ufi);
  const std::int64_t round = std::int64_t{packets} * schedule.groups;
  const std::int64_t rounds = whole_up(length.longest / static_cast<double>(4 * round * schedule.warps));
  const std::int64_t staged = rounds * round * schedule.block_warps() * schedule.warp_row_tiles() * packet_bytes;
  const std::int64_t row_blocks = whole_up(static_cast<double>(shape.rows) / (schedule.ufi * schedule.row_tiles));
  return {.registers = registers,
          .shared_bytes = words * schedule.sum_bytes() +
                          (schedule.stage ? static_cast<int>(std::min<std::int64_t>(staged, 1 << 30)) : 0),
          .threads = schedule.threads(),
          .blocks = row_blocks * whole_up(static_cast<double>(shape.bcol) / schedule.columns),
          .packed_bytes = row_blocks * schedule.row_tiles * whole_up(length.mean / 4) * packet_bytes};
}

KernelFacts estimated_kernel(const RowsSchedule& schedule, const LayerShape& shape) {
  const TaskCounts tasks = task_counts(shape, schedule);
  const double warps = tasks.heavy + tasks.light / schedule.warp_groups();
  return {.registers = 40 + schedule.vector * schedule.unroll,
          .threads = schedule.threads(),
          .blocks = whole_up(warps / schedule.warps) * whole_up(static_cast<double>(shape.bcol) / schedule.columns),
          .packed_bytes = whole_up(16 * (tasks.heavy + tasks.light)) + 8 * shape.nonzeros};
}

KernelFacts estimated_kernel(const AtomicSchedule& schedule, const LayerShape& shape) {
  const ListCounts counts = list_counts(shape, schedule.ufi);
  const double registers = 25 + 1.3 * schedule.ufi * schedule.warptile + 1.1 * schedule.ufk * schedule.ufi +
                           0.7 * schedule.ufk * schedule.warptile;
  return {.registers = static_cast<int>(std::lround(registers)),
          .threads = schedule.threads,
          .blocks = whole_up(counts.lists),
          .packed_bytes = whole_up(16 * counts.lists + column_bytes(shape) * counts.columns) + 4 * shape.nonzeros};
}

/// Of a row tile: the more steps the more non-zeros there are.
int estimated_packed_tile_bytes(const StreamSchedule& schedule, const LayerShape& shape) {
  return static_cast<int>(schedule.dense == StreamSchedule::Dense::off
                              ? schedule.row_m16_tiles() * streamed_packed_tile_bytes(shape.density())
                              : dense_packed_tile_bytes(schedule.dense, shape.density(), schedule.rows));
}

KernelFacts estimated_kernel(const StreamSchedule& schedule, const LayerShape& shape) {
  const int packed_tile_bytes = estimated_packed_tile_bytes(schedule, shape);
  const std::int64_t row_tiles = whole_up(static_cast<double>(shape.rows) / schedule.rows);
  const std::int64_t k_tiles = whole_up(static_cast<double>(shape.columns) / schedule.columns_of_k_tile());
  const int registers =
      64 + (schedule.is_placed() ? schedule.block_rows() / 2 : schedule.columns * schedule.row_m16_tiles());
  return {.registers =
              schedule.ahead ? std::min(registers, StreamSchedule::thread_registers(schedule.threads())) : registers,
          .shared_bytes =
              static_cast<int>(shared_bytes(schedule, packed_tile_bytes, staged_k_tile_bytes(schedule, shape.layout))),
          .threads = schedule.threads(),
          .blocks = schedule.cluster * whole_up(static_cast<double>(row_tiles) / schedule.row_tiles) *
                    whole_up(static_cast<double>(shape.bcol) / schedule.columns),
          .packed_bytes = row_tiles * k_tiles * packed_tile_bytes};
}

KernelFacts estimated_kernel(const GatherSchedule& schedule, const LayerShape& shape) {
  constexpr double filled_up = 1.05;
  constexpr int entry_bytes = 8;
  const double entries =
      shape.density() * std::min<double>(static_cast<double>(shape.columns), GatherSchedule::k_tile_columns);
  const std::int64_t row_blocks = whole_up(static_cast<double>(shape.rows) / schedule.block_rows());
  return {.registers = 40 + 10 * schedule.sets,
          .shared_bytes = static_cast<int>(shared_bytes(schedule, entries)),
          .threads = schedule.threads(),
          .blocks = row_blocks * whole_up(static_cast<double>(shape.bcol) / GatherSchedule::columns),
          .packed_bytes = static_cast<std::int64_t>(static_cast<double>(shape.nonzeros) * entry_bytes * filled_up)};
}

KernelFacts estimated_kernel(const BitmapSchedule& schedule, const LayerShape& shape) {
  const std::int64_t row_tiles = whole_up(static_cast<double>(shape.rows) / BitmapSchedule::row_tile_rows);
  const std::int64_t tiles = whole_up(static_cast<double>(shape.columns) / BitmapSchedule::tile_columns_of_a);
  return {
      .registers = expected_registers(schedule),
      .shared_bytes = static_cast<int>(shared_bytes(schedule, expected_packed_tile_room(schedule, shape.density()))),
      .threads = schedule.threads(),
      .blocks = schedule.cluster * whole_up(static_cast<double>(row_tiles) / schedule.row_tiles) *
                whole_up(static_cast<double>(shape.bcol) / schedule.columns),
      .packed_bytes = row_tiles * tiles * whole_up(expected_packed_tile_bytes(schedule, shape.density()))};
}

KernelFacts estimated_kernel(const Schedule& schedule, const LayerShape& shape) {
  return std::visit([&](const auto& one) { return estimated_kernel(one, shape); }, schedule);
}

}  // namespace esc
