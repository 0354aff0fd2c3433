// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/streamed_size.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "generator/schedule/element_types.h"
#include "generator/schedule/quotient_up.h"

namespace esc {

bool exceeds_cache(const LayerShape& shape) {
  constexpr double cached_elements = 32.0 * 1024 * 1024;  ///< of 2 bytes, in 50 to 60 MiB of L2
  return is_half_type(shape.dtype) && shape.elements() >= cached_elements;
}

int stream_columns(const LayerShape& shape) {
  return shape.bcol == 1 && is_half_type(shape.dtype) ? 1 : widest_stream(shape.bcol);
}

bool has_rows_of_b(const LayerShape& shape) {
  return shape.layout == "kn" || (shape.layout == "nk" && shape.bcol == 1);
}

bool streams_past_cache(const LayerShape& shape, const KernelTarget& target) {
  return exceeds_cache(shape) && has_rows_of_b(shape) && !follows_power_law(shape) &&
         target.oldest_architecture >= StreamSchedule::bulk_architecture;
}

bool pays_in_quarters(const LayerShape& shape) {
  constexpr double densest = 0.38;  ///< with more non-zeros all steps are half steps
  return exceeds_cache(shape) && shape.density() <= densest;
}

bool has_fast_memory(const KernelTarget& target) {
  constexpr double fast_gigabytes = 4000;
  return target.memory_gigabytes >= fast_gigabytes;
}

std::int64_t streamed_unit_bytes(std::string_view dtype, double density, bool quarters) {
  // Of a random pattern: 8 steps from 70 % zeros on, with an extra now and then, more of both where there are fewer
  // zeros. The more zeros, the more of the steps are quarter steps.
  const double bytes = !is_half_type(dtype) ? 4944 + 11000 * std::max(0.0, density - 0.3)
                       : quarters           ? 2100 + 7700 * density
                       : density <= 0.3     ? 4864
                       : density <= 0.4     ? 4864 + 2560 * (density - 0.3)
                                            : 5120 + 11520 * (density - 0.4);
  return static_cast<std::int64_t>(bytes);
}

namespace {

/// Of so many elements with a random pattern the most non-zeros that a unit has, as which all units are as long.
double fullest(double elements, double density) {
  constexpr double deviations = 3.6;
  return std::min(elements * density + deviations * std::sqrt(elements * density * (1 - density)), elements);
}

/// Of what a panel has in a window.
std::int64_t placed_unit_bytes(double density, int rows) {
  constexpr double begins = 32;
  constexpr double value_and_place = 6;
  constexpr double line = 128;
  constexpr double of_shares = 8;  // a further value each
  const double of_unit =
      begins + (fullest(StreamSchedule::placed_columns * rows, density) + of_shares) * value_and_place;
  return static_cast<std::int64_t>(std::ceil(of_unit / line) * line);
}

}  // namespace

std::int64_t listed_unit_bytes(std::string_view dtype, double density, int rows) {
  constexpr double bits_and_begins = 80.0 / 512;  // of an element, in bytes
  const double elements = static_cast<double>(StreamSchedule::window_bytes) / bytes_of_type(dtype) * rows;
  return static_cast<std::int64_t>(elements * bits_and_begins + fullest(elements, density) * bytes_of_type(dtype));
}

std::int64_t dense_unit_bytes(StreamSchedule::Dense dense, std::string_view dtype, double density, int rows) {
  switch (dense) {
    case StreamSchedule::Dense::listed:
      return listed_unit_bytes(dtype, density, rows);
    case StreamSchedule::Dense::placed:
      return placed_unit_bytes(density, rows);
    default:
      return std::int64_t{StreamSchedule::window_bytes} * rows;
  }
}

bool suits_dense_steps(const StreamSchedule& schedule, const LayerShape& shape, const KernelTarget& target) {
  const std::int64_t unit_bytes = dense_unit_bytes(schedule.dense, shape.dtype, shape.density(), schedule.rows);
  const bool has_instructions =
      !schedule.is_placed() || (target.newest_architecture == StreamSchedule::placed_architecture &&
                                schedule.columns <= widest_placed_stream(shape.bcol));
  return has_instructions && fits_shared_memory(schedule, unit_bytes, shape, target);
}

bool fits_shared_memory(const StreamSchedule& schedule, std::int64_t unit_bytes, const LayerShape& shape,
                        const KernelTarget& target) {
  return std::cmp_less_equal(
      shared_bytes(schedule, unit_bytes, staged_window_bytes(schedule, shape.dtype, shape.layout)),
      target.shared_bytes);
}

StreamedSize streamed_size(const LayerShape& shape) {
  return {quotient_up(shape.rows, StreamSchedule::strip_rows), shape.bcol,
          streamed_unit_bytes(shape.dtype, shape.density(), pays_in_quarters(shape))};
}

StreamSchedule with_warps_that_fit(StreamSchedule schedule, const LayerShape& shape, const KernelTarget& target) {
  const std::int64_t unit_bytes = schedule.row_strips() * streamed_size(shape).unit_bytes;
  while (schedule.warps > 1 && !fits_shared_memory(schedule, unit_bytes, shape, target)) {
    --schedule.warps;
  }
  return schedule;
}

std::int64_t blocks_of(const StreamSchedule& schedule, const StreamedSize& size) {
  return quotient_up(size.panels, schedule.panels) * quotient_up(size.bcol, schedule.columns);
}

std::int64_t busiest_panels(const StreamSchedule& schedule, const StreamedSize& size, const KernelTarget& target) {
  return schedule.panels * quotient_up(blocks_of(schedule, size), target.multiprocessors);
}

int panels_of_one_block(const StreamedSize& size, const KernelTarget& target) {
  const std::int64_t most = quotient_up(size.panels, target.multiprocessors);
  return static_cast<int>(quotient_up(most, quotient_up(most, StreamSchedule::max_panels)));
}

int fewest_warps(int panels) {
  constexpr int most_panels_of_two_warps = 6;
  return panels <= most_panels_of_two_warps ? 2 : 1;
}

int warps_of_two_turns(const LayerShape& shape, int most_warps) {
  const std::int64_t windows = quotient_up(shape.columns, StreamSchedule::window_columns(bytes_of_type(shape.dtype)));
  return static_cast<int>(std::clamp<std::int64_t>(windows / 2, 1, most_warps));
}

double expected_time(const StreamSchedule& schedule, const StreamedSize& size, const KernelTarget& target) {
  constexpr double whole_unit_bytes = 4864;  // without quarter steps, from 70 % zeros on
  constexpr double of_column = 1.0 / 80;     // of C, its products with a panel
  constexpr double of_copied_column =
      1.0 / 25;  // the same for the copy of its rows of B, which the panels of a block share
  const double of_weights = static_cast<double>(size.unit_bytes) / whole_unit_bytes;
  return static_cast<double>(busiest_panels(schedule, size, target)) *
         (of_weights + schedule.columns * of_column + schedule.columns * of_copied_column / schedule.panels);
}

std::int64_t blocks_of_output(const LayerShape& shape, std::int64_t rows, std::int64_t columns) {
  return quotient_up(shape.rows, rows) * quotient_up(shape.bcol, columns);
}

std::int64_t blocks_of(const StreamSchedule& schedule, const LayerShape& shape) {
  return schedule.cluster * blocks_of_output(shape, std::int64_t{schedule.rows} * schedule.panels, schedule.columns);
}

std::vector<StreamSchedule> fastest_first(std::vector<std::pair<double, StreamSchedule>> timed) {
  std::ranges::stable_sort(timed, {}, &std::pair<double, StreamSchedule>::first);
  std::vector<StreamSchedule> schedules;
  std::ranges::transform(timed, std::back_inserter(schedules), &std::pair<double, StreamSchedule>::second);
  return schedules;
}

bool fits_clusters(const StreamSchedule& schedule, const LayerShape& shape) {
  constexpr int measured_cluster = 4;
  constexpr std::int64_t most_blocks = 120;
  return schedule.cluster != measured_cluster || blocks_of(schedule, shape) <= most_blocks;
}

bool reaches_most(std::int64_t blocks, const KernelTarget& target) {
  return 4 * blocks >= 3 * std::int64_t{target.multiprocessors};
}

std::vector<ScheduleChoice> with_leaner(const StreamSchedule& schedule, const std::string& source) {
  StreamSchedule leaner = schedule;
  leaner.warps = std::max(1, schedule.warps / 2);
  leaner.stages = 2;
  return {{schedule, source}, {leaner, source}};
}

std::vector<ScheduleChoice> with_leaner_if_spread(const StreamSchedule& schedule, const LayerShape& shape,
                                                  const KernelTarget& target, const std::string& source) {
  return reaches_most(blocks_of(schedule, shape), target) ? with_leaner(schedule, source)
                                                          : std::vector<ScheduleChoice>{};
}

}  // namespace esc
