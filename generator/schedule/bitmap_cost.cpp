// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/bitmap_cost.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "generator/schedule/occupancy.h"

namespace esc {
namespace {

// Microseconds of a multiprocessor, by least squares over those kernels. An H200's memory has 4800 GB/s, of which the
// others have a share.
constexpr double launch = 1.96;
constexpr double of_packed_tile = 0.0965;              ///< counting bits and loading words
constexpr double of_packed_tile_and_n8_tile = 0.0238;  ///< its products with 8 columns of C
constexpr double of_sparse24_packed_tile = 0.02;       ///< nothing is counted
constexpr double of_sparse24_packed_tile_and_n8_tile = 0.018;
constexpr double of_iteration = 0.105;  ///< a block's latency in one
constexpr double of_step = 0.0356;      ///< and in each of its K steps: its warps meet
constexpr double of_wave = 0.989;       ///< each but the first: its blocks begin, and wait for their first operands
constexpr double of_cluster = 1.21;     ///< its blocks begin together, and meet
constexpr double bytes_of_a = 39.2e3;   ///< that it reads in one
constexpr double bytes_of_b = 49.5e3;
constexpr double known_gigabytes = 4800;

// The same where warpgroups multiply.
constexpr double of_warpgroup_wave = 2.64;         ///< its blocks begin, and wait for their first operands
constexpr double of_warpgroup_iteration = 0.394;   ///< four K steps of a consumer group, one after the other
constexpr double of_decoded_packed_tile = 0.1035;  ///< in the registers of a warp
constexpr double of_packed_tile_and_64 = 0.0423;   ///< its products with 64 columns of C
constexpr double of_sums_of_warps = 0.228;         ///< of 64 x 64 of C, for each further warp of a row tile
constexpr double of_sums_of_blocks = 0.432;        ///< and for each further block of a cluster

// Bytes of a packed tile: bits and odd columns, two for each non-zero, and what fills the rows of words up; the fullest
// of many is larger than the mean.
constexpr double packed_tile_elements = BitmapSchedule::row_tile_rows * BitmapSchedule::tile_columns_of_a;
constexpr double bits_of_packed_tile = 544;
constexpr double padding_of_packed_tile = 352;
constexpr double fullest_packed_tile = 1.08;
constexpr double room_in_front = 224;
/// Of each four elements two, and four bits.
constexpr double bytes_of_sparse24_packed_tile = packed_tile_elements * (2 * 2 + 0.5) / 4;

double up(double value, double divisor) { return std::ceil(value / divisor); }

/// What a grid of the schedule has to do.
struct Work {
  Work(const BitmapSchedule& schedule, const LayerShape& shape, const DeviceKey& device, const KernelFacts& kernel,
       int resident)
      : tiles(up(static_cast<double>(shape.columns), BitmapSchedule::tile_columns_of_a) / schedule.cluster),
        iterations(std::ceil(tiles / schedule.warps)),
        busiest(up(static_cast<double>(kernel.blocks), device.multiprocessors)),
        waves(up(static_cast<double>(kernel.blocks), 1.0 * device.multiprocessors * resident)),
        packed_tiles(busiest * schedule.row_tiles * schedule.warps * iterations) {}

  double tiles;         ///< of K, of a block
  double iterations;    ///< of a block
  double busiest;       ///< blocks of the busiest multiprocessor
  double waves;         ///< in how many goes these run
  double packed_tiles;  ///< of A, that it decodes
};

double time_of_warps(const BitmapSchedule& schedule, const LayerShape& shape, const Work& work, double gigabytes) {
  constexpr double element_bytes = 2;
  const double n8_tiles = schedule.columns / 8.0;
  const double instructions =
      work.packed_tiles * (schedule.is_sparse24()
                               ? of_sparse24_packed_tile + of_sparse24_packed_tile_and_n8_tile * n8_tiles
                               : of_packed_tile + of_packed_tile_and_n8_tile * n8_tiles);
  const double memory = gigabytes / known_gigabytes * bytes_of_a;
  const double packed_tiles =
      work.busiest * schedule.row_tiles * work.tiles * expected_packed_tile_bytes(schedule, shape.density()) / memory;
  const double tiles_of_b =
      work.busiest * work.tiles * BitmapSchedule::tile_columns_of_a * schedule.columns * element_bytes / bytes_of_b;
  const double steps = static_cast<double>(BitmapSchedule::tile_columns_of_a) / schedule.step_columns();
  return launch + std::cbrt(std::pow(instructions, 3) + std::pow(packed_tiles, 3) + std::pow(tiles_of_b, 3)) +
         work.waves * work.iterations * (of_iteration + of_step * steps) + (work.waves - 1) * of_wave +
         of_cluster * (schedule.cluster - 1);
}

double time_of_warpgroups(const BitmapSchedule& schedule, const Work& work) {
  const double products = work.packed_tiles * (of_decoded_packed_tile + of_packed_tile_and_64 * schedule.columns / 64);
  const double exchange = of_sums_of_warps * (schedule.warps - 1) + of_sums_of_blocks * (schedule.cluster - 1);
  const double sums = schedule.row_tiles * BitmapSchedule::row_tile_rows * schedule.columns / (64.0 * 64);
  return products + work.waves * (of_warpgroup_wave + work.iterations * of_warpgroup_iteration + exchange * sums);
}

}  // namespace

int expected_registers(const BitmapSchedule& schedule) {
  constexpr int at_once = 8;  // that a warp is given
  const int most =
      schedule.has_warpgroups() ? ProducerWarps(schedule.consumer_threads(), schedule.columns).most_registers() : 256;
  const int needed = schedule.has_warpgroups() ? 96 + schedule.columns / 2 : 88 + schedule.columns * 6 / 5;
  return std::min(most, (needed + at_once - 1) / at_once * at_once);
}

double expected_packed_tile_bytes(const BitmapSchedule& schedule, double density) {
  if (schedule.is_sparse24()) {
    return bytes_of_sparse24_packed_tile;
  }
  return bits_of_packed_tile + padding_of_packed_tile + 2 * packed_tile_elements * density;
}

std::int64_t expected_packed_tile_room(const BitmapSchedule& schedule, double density) {
  const double bytes = expected_packed_tile_bytes(schedule, density);
  return static_cast<std::int64_t>(schedule.is_sparse24() ? bytes : bytes * fullest_packed_tile + room_in_front);
}

Cost bitmap_cost(const BitmapSchedule& schedule, const LayerShape& shape, const DeviceKey& device,
                 const KernelFacts& kernel, const std::optional<double>& memory_gigabytes) {
  const int resident = resident_blocks(kernel, sm_limits(device.capability));
  if (resident == 0) {
    return {.microseconds = std::numeric_limits<double>::infinity()};
  }
  const Work work(schedule, shape, device, kernel, resident);
  return {.microseconds = schedule.has_warpgroups()
                              ? time_of_warpgroups(schedule, work)
                              : time_of_warps(schedule, shape, work, memory_gigabytes.value_or(known_gigabytes))};
}

}  // namespace esc
