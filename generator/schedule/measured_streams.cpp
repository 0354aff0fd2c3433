// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/measured_streams.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "generator/schedule/element_types.h"
#include "generator/schedule/quotient_up.h"
#include "generator/schedule/streamed_size.h"

namespace esc {
namespace {

/// Of B in rows.
constexpr StreamSchedule of_rows[] = {{.columns = 64, .panels = 2, .warps = 4, .stages = 3, .share = 4, .rows = 32},
                                      {.columns = 64, .panels = 2, .warps = 4, .stages = 2, .share = 4, .rows = 32},
                                      {.columns = 64, .panels = 3, .warps = 4, .stages = 2, .share = 4, .rows = 32},
                                      {.columns = 64, .panels = 1, .warps = 4, .stages = 2, .share = 2, .rows = 32},
                                      {.columns = 64, .panels = 2, .warps = 2, .stages = 3, .share = 2, .rows = 32},
                                      {.columns = 64, .panels = 4, .warps = 2, .stages = 3, .share = 2},
                                      {.columns = 64, .panels = 2, .warps = 4, .stages = 3, .share = 4},
                                      {.columns = 32, .panels = 1, .warps = 8, .stages = 2, .share = 4, .rows = 32},
                                      {.columns = 32, .panels = 2, .warps = 4, .stages = 2, .share = 2, .rows = 32},
                                      {.columns = 32, .panels = 3, .warps = 4, .stages = 4, .share = 4, .rows = 32},
                                      {.columns = 32, .panels = 2, .warps = 4, .stages = 3, .share = 2},
                                      {.columns = 32, .panels = 3, .warps = 4, .stages = 3, .share = 2},
                                      {.columns = 32, .panels = 4, .warps = 2, .stages = 2},
                                      {.columns = 16, .panels = 4, .warps = 2, .stages = 2}};

/// The same where factors are rounded to TF32.
constexpr StreamSchedule of_rounded_rows[] = {
    {.columns = 64, .panels = 2, .warps = 4, .stages = 2, .share = 4, .rows = 32},
    {.columns = 64, .panels = 2, .warps = 4, .stages = 3, .share = 4, .rows = 32},
    {.columns = 64, .panels = 3, .warps = 4, .stages = 2, .share = 4, .rows = 32},
    {.columns = 64, .panels = 1, .warps = 4, .stages = 2, .share = 2, .rows = 32},
    {.columns = 64, .panels = 4, .warps = 4, .stages = 3, .share = 4},
    {.columns = 64, .panels = 4, .warps = 2, .stages = 3, .share = 2},
    {.columns = 32, .panels = 1, .warps = 8, .stages = 3, .share = 4, .rows = 32},
    {.columns = 32, .panels = 3, .warps = 4, .stages = 4, .share = 4, .rows = 32},
    {.columns = 32, .panels = 2, .warps = 8, .stages = 2, .share = 4, .rows = 32},
    {.columns = 32, .panels = 2, .warps = 4, .stages = 2, .share = 2, .rows = 32},
    {.columns = 32, .panels = 2, .warps = 8, .stages = 3, .share = 4},
    {.columns = 32, .panels = 4, .warps = 2, .stages = 2},
    {.columns = 32, .panels = 6, .warps = 2, .stages = 2},
    {.columns = 32, .panels = 2, .warps = 4, .stages = 3, .share = 2},
    {.columns = 16, .panels = 2, .warps = 4, .stages = 3, .share = 2, .rows = 32},
    {.columns = 16, .panels = 4, .warps = 2, .stages = 2},
    {.columns = 16, .panels = 1, .warps = 8, .stages = 3, .share = 4}};

/// Of images.
constexpr StreamSchedule of_images[] = {
    {.columns = 16, .panels = 2, .warps = 4, .stages = 2}, {.columns = 32, .panels = 2, .warps = 4, .stages = 2},
    {.columns = 32, .panels = 4, .warps = 2, .stages = 2}, {.columns = 64, .panels = 4, .warps = 2, .stages = 2},
    {.columns = 64, .panels = 4, .warps = 1, .stages = 3}, {.columns = 64, .panels = 8, .warps = 1, .stages = 2}};

/// Beside those, of images that filters of one pixel read, and of those that filters with taps share elements of.
constexpr StreamSchedule of_points[] = {{.columns = 32, .panels = 4, .warps = 4, .stages = 2},
                                        {.columns = 32, .panels = 8, .warps = 2, .stages = 2},
                                        {.columns = 64, .panels = 8, .warps = 2, .stages = 2}};
constexpr StreamSchedule of_taps[] = {{.columns = 64, .panels = 4, .warps = 2, .stages = 3, .share = 2, .rows = 32},
                                      {.columns = 64, .panels = 2, .warps = 4, .stages = 3, .share = 4, .rows = 32},
                                      {.columns = 32, .panels = 4, .warps = 4, .stages = 3, .share = 4, .rows = 32},
                                      {.columns = 64, .panels = 2, .warps = 4, .stages = 2, .share = 2, .rows = 32}};

/// Microseconds of one NVIDIA H200, or of float32's rows one H100, fitted to what schedules were measured to take
/// (docs/journal/2026-11-23-float32-streams.md): of a launch; of a warp with one window, where it is alone, for each
/// column of C and strip of 16 rows, for each column whatever the strips, for each strip, and for each column of C that
/// lanes copy; of a turn of a block. Warps hide each other's latency: so many of them do half as much as would be done
/// if nothing had to be waited for.
struct StreamTimes {
  double launch;
  double product;
  double element_of_b;
  double values_of_a;
  double copied_column;
  double turn;
  double half_rate_warps;
  double steps_of_32_rows =
      34;  ///< more of them for each non-zero beyond a fifth of the elements, in panels of 32 rows
  double steps_of_four_warps =
      34;  ///< the same where four warps share a window, for which a few steps take as long as more
  bool divides_pairs =
      false;  ///< fitted since warps that share a window divide the steps that are left, where one of them had a pair
              ///< more
};

constexpr StreamTimes times_of_rows{.launch = 2.0,
                                    .product = 0.0040,
                                    .element_of_b = 0.0035,
                                    .values_of_a = 0.086,
                                    .copied_column = 0.0083,
                                    .turn = 0.43,
                                    .half_rate_warps = 1.59,
                                    .steps_of_32_rows = 16.5,
                                    .steps_of_four_warps = 29,
                                    .divides_pairs = true};
/// One product in place of three, and nothing to split.
constexpr StreamTimes times_of_rounded_rows{.launch = 5.0,
                                            .product = 0.0020,
                                            .element_of_b = 0.0044,
                                            .values_of_a = 0.061,
                                            .copied_column = 0.0081,
                                            .turn = 0.48,
                                            .half_rate_warps = 2.12};
constexpr StreamTimes times_of_images{.launch = 1.3,
                                      .product = 0.0019,
                                      .element_of_b = 0.0058,
                                      .values_of_a = 0.075,
                                      .copied_column = 0.0123,
                                      .turn = 0.69,
                                      .half_rate_warps = 1.37};

constexpr double of_full_windows = 8;  ///< steps

/// Steps of a unit of a random pattern with so many non-zeros, which an extra now and then stands beside.
double steps_of(double density, const StreamSchedule& schedule, const StreamTimes& times) {
  constexpr double of_16_rows = 20;
  constexpr int four_warps = 4;
  if (schedule.rows == StreamSchedule::strip_rows) {
    return of_full_windows + of_16_rows * std::max(0.0, density - 0.3);
  }
  return of_full_windows + (schedule.share >= four_warps ? times.steps_of_four_warps : times.steps_of_32_rows) *
                               std::max(0.0, density - 0.2);
}

std::int64_t unit_bytes(double steps, const StreamSchedule& schedule) {
  constexpr double of_strip = 576;
  constexpr double of_columns = 16;
  constexpr std::int64_t line = 128;
  return quotient_up(static_cast<std::int64_t>(steps * (of_strip * schedule.row_strips() + of_columns)), line) * line;
}

class MeasuredLayer {
 public:
  MeasuredLayer(const LayerShape& shape, const KernelTarget& target)
      : shape_(shape),
        target_(target),
        times_(shape.layout != "kn"    ? times_of_images
               : shape.dtype == "tf32" ? times_of_rounded_rows
                                       : times_of_rows),
        density_(shape.density()) {}

  /// Infinite where shared memory has no room for it or it has more columns than there are.
  double microseconds(const StreamSchedule& schedule) const {
    const double steps = steps_of(density_, schedule, times_);
    const std::int64_t window_bytes = staged_window_bytes(schedule, shape_.dtype, shape_.layout);
    const std::int64_t bytes = shared_bytes(schedule, unit_bytes(steps, schedule), window_bytes);
    if (std::cmp_greater(bytes, target_.shared_bytes) || schedule.columns > widest_stream(shape_.bcol)) {
      return std::numeric_limits<double>::infinity();
    }
    const std::int64_t blocks = quotient_up(quotient_up(shape_.rows, schedule.rows), schedule.panels) *
                                quotient_up(shape_.bcol, schedule.columns);
    const std::int64_t of_processor = quotient_up(blocks, target_.multiprocessors);
    const std::int64_t resident =
        std::min(of_processor, resident_blocks(schedule, static_cast<std::int64_t>(target_.shared_bytes) / bytes));
    const std::int64_t windows = quotient_up(shape_.columns, StreamSchedule::window_columns(4));
    const auto turns = static_cast<double>(quotient_up(windows, schedule.turn_windows()));
    const double block_warps = schedule.panels * schedule.warps;
    const double warps = block_warps * static_cast<double>(resident);
    const double work = block_warps * warp_work(schedule, steps) + copies(schedule) + times_.turn;
    return times_.launch +
           static_cast<double>(of_processor) * turns * work * (1 + warps / times_.half_rate_warps) / warps;
  }

 private:
  /// Of a warp for its part of a window.
  double warp_work(const StreamSchedule& schedule, double steps) const {
    const std::int64_t pairs = quotient_up(std::lround(steps), 2);
    const double part = times_.divides_pairs
                            ? 1.0 / schedule.share
                            : static_cast<double>(quotient_up(pairs, schedule.share)) / static_cast<double>(pairs);
    const double column = schedule.row_strips() * times_.product + times_.element_of_b;
    return steps / of_full_windows * part * (schedule.columns * column + schedule.row_strips() * times_.values_of_a);
  }

  double copies(const StreamSchedule& schedule) const {
    constexpr double more_of_patches = 1.33;
    return copies_boxes(schedule, shape_.layout) ? 0
                                                 : schedule.columns * schedule.turn_windows() * times_.copied_column *
                                                       (has_taps(shape_.layout) ? more_of_patches : 1);
  }

  /// Those that shared memory and registers have room for.
  static std::int64_t resident_blocks(const StreamSchedule& schedule, std::int64_t fitting) {
    constexpr std::int64_t registers = 65536;
    const std::int64_t of_thread = std::min(255, 70 + schedule.columns * schedule.row_strips() / 2 + schedule.columns);
    return std::max<std::int64_t>(1, std::min(fitting, registers / (of_thread * schedule.threads())));
  }

  const LayerShape& shape_;
  const KernelTarget& target_;
  StreamTimes times_;
  double density_;
};

}  // namespace

std::vector<StreamSchedule> measured_streams(const LayerShape& shape, const KernelTarget& target) {
  const MeasuredLayer layer(shape, target);
  std::vector<std::pair<double, StreamSchedule>> timed;
  const auto add = [&](std::span<const StreamSchedule> schedules) {
    for (StreamSchedule schedule : schedules) {
      schedule.copies = StreamSchedule::measured_copies(target.oldest_architecture);
      if (const double time = layer.microseconds(schedule); std::isfinite(time)) {
        timed.emplace_back(time, schedule);
      }
    }
  };
  if (shape.layout == "kn") {
    shape.dtype == "tf32" ? add(of_rounded_rows) : add(of_rows);
  } else {
    add(of_images);
    has_taps(shape.layout) ? add(of_taps) : add(of_points);
  }
  return fastest_first(std::move(timed));
}

}  // namespace esc
