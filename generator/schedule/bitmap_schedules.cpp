// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/bitmap_schedules.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "generator/schedule/settings.h"

namespace esc {
namespace {

// Microseconds of a multiprocessor, by least squares over those kernels. An H200's memory has 4800 GB/s, of which the others have a share.
constexpr double launch = 3.1;
constexpr double of_unit = 0.0582;            ///< counting bits and loading words
constexpr double of_unit_and_eighth = 0.0188; ///< its products with 8 columns of C
constexpr double of_turn = 0.68;              ///< a block's latency in one
constexpr double of_turn_and_eighth = 0.029;  ///< and for each 8 columns, what waits for tiles of B where two are there
constexpr double bytes_of_a = 43.4e3;         ///< that it reads in one
constexpr double bytes_of_b = 77e3;
constexpr double known_gigabytes = 4800;

// Bytes of a unit: bits and odd columns, two for each non-zero, and what fills the rows of words up; the fullest of many is larger than the mean.
constexpr double unit_elements = BitmapSchedule::panel_rows * BitmapSchedule::tile_columns_of_a;
constexpr double bits_of_unit = 544;
constexpr double padding_of_unit = 352;
constexpr double fullest_unit = 1.08;
constexpr double room_in_front = 224;

double up(double value, double divisor) { return std::ceil(value / divisor); }

/// Blocks that run on a multiprocessor at once, as far as registers and shared memory go.
double resident_blocks(const BitmapSchedule& schedule, const LayerShape& shape, const KernelTarget& target) {
  constexpr double registers = 65536;
  const double of_thread = 88 + 1.2 * schedule.columns;
  const double by_memory = std::floor(static_cast<double>(target.shared_bytes) / static_cast<double>(shared_bytes(schedule, expected_unit_room(shape.density()))));
  return std::max(1.0, std::min(by_memory, std::floor(registers / of_thread / schedule.threads())));
}

}  // namespace

double expected_unit_bytes(double density) { return bits_of_unit + padding_of_unit + 2 * unit_elements * density; }

std::int64_t expected_unit_room(double density) {
  return static_cast<std::int64_t>(expected_unit_bytes(density) * fullest_unit + room_in_front);
}

double expected_bitmap_bytes(const LayerShape& shape) {
  const double panels = up(static_cast<double>(shape.rows), BitmapSchedule::panel_rows);
  const double tiles = up(static_cast<double>(shape.columns), BitmapSchedule::tile_columns_of_a);
  const double in_units = static_cast<double>(shape.nonzeros) / (panels * tiles * unit_elements);
  return panels * tiles * expected_unit_bytes(in_units);
}

double expected_time(const BitmapSchedule& schedule, const LayerShape& shape, const KernelTarget& target) {
  const double tiles = up(static_cast<double>(shape.columns), BitmapSchedule::tile_columns_of_a);
  const double columns = up(static_cast<double>(shape.bcol), schedule.columns);
  const double blocks = up(static_cast<double>(shape.rows), BitmapSchedule::panel_rows * schedule.panels) * columns;
  const double busiest = up(blocks, target.multiprocessors);
  const double turns = up(tiles, schedule.warps);
  const double eighths = schedule.columns / 8.0;
  const double instructions = busiest * schedule.panels * schedule.warps * turns * (of_unit + of_unit_and_eighth * eighths);
  const double memory = target.memory_gigabytes / known_gigabytes * bytes_of_a;
  const double units = busiest * schedule.panels * tiles * expected_unit_bytes(shape.density()) / memory;
  const double tiles_of_b = busiest * static_cast<double>(shape.columns) * schedule.columns * 2 / bytes_of_b;
  const double waits = up(busiest, resident_blocks(schedule, shape, target)) * turns;
  const double waits_for_b = of_turn_and_eighth * eighths / (schedule.stages - 1);
  return launch + std::cbrt(std::pow(instructions, 3) + std::pow(units, 3) + std::pow(tiles_of_b, 3)) + waits * (of_turn + waits_for_b);
}

std::vector<ScheduleChoice> bitmap_schedules(const LayerShape& shape, const KernelTarget& target) {
  constexpr int most_panels = 8, most_stages = 4, most_units = 3;
  std::vector<std::pair<double, BitmapSchedule>> found;
  const auto add = [&](const BitmapSchedule& schedule) {
    const bool fits = shared_bytes(schedule, expected_unit_room(shape.density())) <= static_cast<std::int64_t>(target.shared_bytes);
    if (fits && is_accepted([&] { check_legal(schedule, shape.product()); })) {
      found.emplace_back(expected_time(schedule, shape, target), schedule);
    }
  };
  for (int columns = 8; columns <= BitmapSchedule::max_columns; columns *= 2) {
    for (int panels = 1; panels <= most_panels; ++panels) {
      for (int warps = 1; warps <= BitmapSchedule::max_warps / panels; ++warps) {
        for (int stages = 2; stages <= most_stages; ++stages) {
          for (int units = 2; units <= most_units; ++units) {
            add({.columns = columns, .panels = panels, .warps = warps, .stages = stages, .units = units});
          }
        }
      }
    }
  }
  std::ranges::stable_sort(found, {}, &std::pair<double, BitmapSchedule>::first);
  std::vector<ScheduleChoice> choices;
  for (const auto& [time, schedule] : found) {
    choices.push_back({schedule, "bitmap: the fastest by expectation for these columns"});
  }
  return choices;
}

}  // namespace esc
