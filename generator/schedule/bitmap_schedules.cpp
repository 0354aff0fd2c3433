// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/bitmap_schedules.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "generator/schedule/half_speeds.h"
#include "generator/schedule/settings.h"

namespace esc {
namespace {

// Microseconds of a multiprocessor, by least squares over those kernels. An H200's memory has 4800 GB/s, of which the
// others have a share.
constexpr double launch = 1.64;
constexpr double of_packed_tile = 0.0459;              ///< counting bits and loading words
constexpr double of_packed_tile_and_n8_tile = 0.0254;  ///< its products with 8 columns of C
constexpr double of_iteration = 0.287;                 ///< a block's latency in one
constexpr double of_step = 0.0816;                     ///< and in each of its K steps: its warps meet
constexpr double of_wave = 1.09;       ///< each but the first: its blocks begin, and wait for their first operands
constexpr double bytes_of_a = 39.6e3;  ///< that it reads in one
constexpr double bytes_of_b = 56e3;
constexpr double known_gigabytes = 4800;

// The same where warpgroups multiply.
constexpr double launch_of_warpgroups = 1.86;
constexpr double of_warpgroup_iteration = 0.922;  ///< four K steps of a consumer group, one after the other
constexpr double of_decoded_packed_tile = 0.107;  ///< in the registers of a warp
constexpr double of_packed_tile_and_64 = 0.0304;  ///< its products with 64 columns of C
constexpr double of_sums_of_warps = 0.614;        ///< of 64 x 64 of C, for each further warp of a row tile
constexpr double of_sums_of_blocks = 0.609;       ///< and for each further block of a cluster

// Bytes of a unit: bits and odd columns, two for each non-zero, and what fills the rows of words up; the fullest of
// many is larger than the mean.
constexpr double packed_tile_elements = BitmapSchedule::row_tile_rows * BitmapSchedule::tile_columns_of_a;
constexpr double bits_of_packed_tile = 544;
constexpr double padding_of_packed_tile = 352;
constexpr double fullest_packed_tile = 1.08;
constexpr double room_in_front = 224;

constexpr int multiprocessor_registers = 65536;

double up(double value, double divisor) { return std::ceil(value / divisor); }

/// Blocks that run on a multiprocessor at once, as far as registers and shared memory go.
double resident_blocks(const BitmapSchedule& schedule, const LayerShape& shape, const KernelTarget& target) {
  const double by_memory =
      std::floor(static_cast<double>(target.shared_bytes) /
                 static_cast<double>(shared_bytes(schedule, expected_packed_tile_room(shape.density()))));
  return std::max(1.0, std::min(by_memory, std::floor(1.0 * multiprocessor_registers / expected_registers(schedule) /
                                                      schedule.threads())));
}

/// What a grid of the schedule has to do.
struct Work {
  Work(const BitmapSchedule& schedule, const LayerShape& shape, const KernelTarget& target)
      : tiles(up(static_cast<double>(shape.columns), BitmapSchedule::tile_columns_of_a)),
        iterations(up(tiles, schedule.warps * schedule.cluster)) {
    const double columns = up(static_cast<double>(shape.bcol), schedule.columns);
    const double blocks = up(static_cast<double>(shape.rows), BitmapSchedule::row_tile_rows * schedule.row_tiles) *
                          columns * schedule.cluster;
    busiest = up(blocks, target.device.multiprocessors);
    waves = up(blocks, target.device.multiprocessors * resident_blocks(schedule, shape, target));
    packed_tiles = busiest * schedule.row_tiles * schedule.warps * iterations;
  }

  double tiles;         ///< of K
  double iterations;    ///< of a block
  double busiest;       ///< blocks of the busiest multiprocessor
  double waves;         ///< in how many goes these run
  double packed_tiles;  ///< of A, that it decodes
};

double time_of_warps(const BitmapSchedule& schedule, const LayerShape& shape, const KernelTarget& target) {
  const Work work(schedule, shape, target);
  const double n8_tiles = schedule.columns / 8.0;
  const double instructions = work.packed_tiles * (of_packed_tile + of_packed_tile_and_n8_tile * n8_tiles);
  const double memory = target.memory_gigabytes / known_gigabytes * bytes_of_a;
  const double packed_tiles =
      work.busiest * schedule.row_tiles * work.tiles * expected_packed_tile_bytes(shape.density()) / memory;
  const double tiles_of_b = work.busiest * static_cast<double>(shape.columns) * schedule.columns * 2 / bytes_of_b;
  const double steps = static_cast<double>(BitmapSchedule::tile_columns_of_a) / schedule.step_columns();
  return launch + std::cbrt(std::pow(instructions, 3) + std::pow(packed_tiles, 3) + std::pow(tiles_of_b, 3)) +
         work.waves * work.iterations * (of_iteration + of_step * steps) + (work.waves - 1) * of_wave;
}

double time_of_warpgroups(const BitmapSchedule& schedule, const LayerShape& shape, const KernelTarget& target) {
  const Work work(schedule, shape, target);
  const double products = work.packed_tiles * (of_decoded_packed_tile + of_packed_tile_and_64 * schedule.columns / 64);
  const double exchange = of_sums_of_warps * (schedule.warps - 1) + of_sums_of_blocks * (schedule.cluster - 1);
  const double sums = schedule.row_tiles * BitmapSchedule::row_tile_rows * schedule.columns / (64.0 * 64);
  return launch_of_warpgroups + products + work.waves * (work.iterations * of_warpgroup_iteration + exchange * sums);
}

/// Schedules by the time that is expected of them.
class Candidates {
 public:
  Candidates(const LayerShape& shape, const KernelTarget& target) : shape_(shape), target_(target) {}

  void add(const BitmapSchedule& schedule) {
    const bool fits = shared_bytes(schedule, expected_packed_tile_room(shape_.density())) <=
                          static_cast<std::int64_t>(target_.shared_bytes) &&
                      expected_registers(schedule) * schedule.threads() <= multiprocessor_registers;
    if (fits && is_accepted([&] { check_legal(schedule, shape_.product()); })) {
      found_.emplace_back(expected_time(schedule, shape_, target_), schedule);
    }
  }

  std::vector<ScheduleChoice> fastest_first() {
    std::ranges::stable_sort(found_, {}, &std::pair<double, BitmapSchedule>::first);
    std::vector<ScheduleChoice> choices;
    for (const auto& [time, schedule] : found_) {
      choices.push_back({schedule, "bitmap: the fastest by expectation for these columns"});
    }
    return choices;
  }

 private:
  const LayerShape& shape_;
  const KernelTarget& target_;
  std::vector<std::pair<double, BitmapSchedule>> found_;
};

void add_warps(Candidates& candidates) {
  constexpr int most_row_tiles = 8, most_stages = 4, most_packed_tiles = 3;
  for (int columns = 8; columns <= BitmapSchedule::max_warp_columns; columns *= 2) {
    for (int row_tiles = 1; row_tiles <= most_row_tiles; ++row_tiles) {
      for (int warps = 1; warps <= BitmapSchedule::max_warps / row_tiles; ++warps) {
        for (int stages = 2; stages <= most_stages; ++stages) {
          for (int packed_tiles = 2; packed_tiles <= most_packed_tiles; ++packed_tiles) {
            for (const int step : {BitmapSchedule::half_tile, BitmapSchedule::tile_columns_of_a}) {
              candidates.add({.columns = columns,
                              .row_tiles = row_tiles,
                              .warps = warps,
                              .stages = stages,
                              .packed_tiles = packed_tiles,
                              .step = step});
            }
          }
        }
      }
    }
  }
}

/// Tiles of B in shared memory: two that are in use, and as many on their way as hide the latency of L2, at least two.
/// More were never faster, nor deeper stages of A or larger clusters.
int stages_of_warpgroups(int columns) {
  constexpr int in_use = 2, least_on_the_way = 2;
  constexpr int bytes_on_the_way = 32 * 1024;
  const int tile_bytes = BitmapSchedule::block_columns * columns * 2;
  return in_use + std::max(least_on_the_way, bytes_on_the_way / tile_bytes);
}

void add_warpgroups(Candidates& candidates) {
  constexpr int least_stages = 4, packed_tiles = 2;
  for (int columns = BitmapSchedule::least_warpgroup_columns; columns <= BitmapSchedule::max_columns; columns *= 2) {
    for (const int row_tiles : {4, 8}) {
      for (const int warps : {1, 2}) {
        for (const int cluster : {1, 2}) {
          for (int stages = stages_of_warpgroups(columns); stages >= least_stages; stages -= 2) {
            candidates.add({.columns = columns,
                            .row_tiles = row_tiles,
                            .warps = warps,
                            .stages = stages,
                            .packed_tiles = packed_tiles,
                            .mma = BitmapSchedule::Mma::warpgroup,
                            .cluster = cluster});
          }
        }
      }
    }
  }
}

}  // namespace

int expected_registers(const BitmapSchedule& schedule) {
  constexpr int most = 256, at_once = 8;  // that a warp is given
  const int needed = schedule.has_warpgroups() ? 96 + schedule.columns / 2 : 88 + schedule.columns * 6 / 5;
  return std::min(most, (needed + at_once - 1) / at_once * at_once);
}

double expected_packed_tile_bytes(double density) {
  return bits_of_packed_tile + padding_of_packed_tile + 2 * packed_tile_elements * density;
}

std::int64_t expected_packed_tile_room(double density) {
  return static_cast<std::int64_t>(expected_packed_tile_bytes(density) * fullest_packed_tile + room_in_front);
}

double expected_bitmap_bytes(const LayerShape& shape) {
  const double row_tiles = up(static_cast<double>(shape.rows), BitmapSchedule::row_tile_rows);
  const double tiles = up(static_cast<double>(shape.columns), BitmapSchedule::tile_columns_of_a);
  const double in_packed_tiles = static_cast<double>(shape.nonzeros) / (row_tiles * tiles * packed_tile_elements);
  return row_tiles * tiles * expected_packed_tile_bytes(in_packed_tiles);
}

bool suits_bitmap(const LayerShape& shape, int oldest_architecture) {
  constexpr double least_density = 0.25;
  return can_use_bitmap(shape.dtype) && (shape.layout == "kn" || shape.layout == "nk") &&
         shape.density() >= least_density && oldest_architecture >= BitmapSchedule::least_architecture;
}

double expected_time(const BitmapSchedule& schedule, const LayerShape& shape, const KernelTarget& target) {
  return schedule.has_warpgroups() ? time_of_warpgroups(schedule, shape, target)
                                   : time_of_warps(schedule, shape, target);
}

std::vector<ScheduleChoice> bitmap_schedules(const LayerShape& shape, const KernelTarget& target) {
  Candidates candidates(shape, target);
  add_warps(candidates);
  if (target.oldest_architecture == BitmapSchedule::warpgroup_architecture &&
      target.newest_architecture == BitmapSchedule::warpgroup_architecture) {
    add_warpgroups(candidates);
  }
  return candidates.fastest_first();
}

std::vector<ScheduleChoice> preferred_bitmaps(const LayerShape& shape, const KernelTarget& target) {
  constexpr double least_elements = 1 << 22;
  constexpr std::size_t most = 8;  // the matrix may have units that the first ones have no room for
  const bool streams_are_slower = shape.bcol > most_tuned_half_columns || shape.layout == "nk";
  if (!suits_bitmap(shape, target.oldest_architecture) || !streams_are_slower || shape.elements() < least_elements) {
    return {};
  }
  std::vector<ScheduleChoice> choices = bitmap_schedules(shape, target);
  choices.erase(choices.begin() + static_cast<std::ptrdiff_t>(std::min(most, choices.size())), choices.end());
  return choices;
}

}  // namespace esc
