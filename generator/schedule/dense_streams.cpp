// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/dense_streams.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include "generator/schedule/quotient_up.h"
#include "generator/schedule/streamed_size.h"

namespace esc {
namespace {

/// A schedule, and how long it took for as many products of a multiprocessor as the first whole steps of its table:
/// 2048 x 2048 to 11,008 x 4096 at 50 to 80 % zeros, with listed and placed values to 90 %, on one NVIDIA H100, placed
/// ones at 60 %, of float32 on one H200, those that are placed ahead on an H200.
struct MeasuredStream {
  StreamSchedule schedule;
  double slowness;
};

constexpr StreamSchedule stream(StreamSchedule schedule, StreamSchedule::Dense dense) {
  schedule.copies = StreamSchedule::Copies::bulk;
  schedule.dense = dense;
  return schedule;
}
constexpr StreamSchedule dense(const StreamSchedule& schedule) { return stream(schedule, StreamSchedule::Dense::on); }
constexpr StreamSchedule listed(const StreamSchedule& schedule) {
  return stream(schedule, StreamSchedule::Dense::listed);
}
constexpr StreamSchedule placed(const StreamSchedule& schedule) {
  return stream(schedule, StreamSchedule::Dense::placed);
}
/// Placed by warps of their own, a turn ahead of eight that multiply.
constexpr StreamSchedule ahead(StreamSchedule schedule) {
  schedule.panels = 1;
  schedule.warps = 8;
  schedule.share = schedule.columns / StreamSchedule::warp_columns;
  schedule.ahead = true;
  return placed(schedule);
}

/// Of float32, where C has more than 32 columns, and where it has 32, for which memory binds.
constexpr MeasuredStream of_many_columns[] = {
    {ahead({.columns = 128, .stages = 4, .rows = 112}), 0.55},
    {ahead({.columns = 128, .stages = 4, .rows = 128}), 0.51},
    {ahead({.columns = 128, .stages = 4, .rows = 128, .cluster = 2}), 0.55},
    {ahead({.columns = 128, .stages = 4, .rows = 144, .cluster = 2}), 0.53},
    {ahead({.columns = 128, .stages = 4, .rows = 144, .cluster = 4}), 0.63},
    {ahead({.columns = 128, .stages = 4, .rows = 160, .cluster = 2}), 0.51},
    {ahead({.columns = 128, .stages = 4, .rows = 176, .cluster = 2}), 0.49},
    {ahead({.columns = 128, .stages = 3, .rows = 176, .cluster = 2}), 0.5},
    {ahead({.columns = 128, .stages = 4, .rows = 192, .cluster = 2}), 0.465},
    {ahead({.columns = 128, .stages = 3, .rows = 192, .cluster = 2}), 0.47},
    {ahead({.columns = 64, .stages = 4, .rows = 128}), 0.6},
    {ahead({.columns = 64, .stages = 4, .rows = 144}), 0.55},
    {ahead({.columns = 64, .stages = 4, .rows = 160}), 0.52},
    {ahead({.columns = 64, .stages = 4, .rows = 176}), 0.49},
    {ahead({.columns = 64, .stages = 3, .rows = 176}), 0.54},
    {ahead({.columns = 64, .stages = 4, .rows = 128, .cluster = 2}), 0.67},
    {ahead({.columns = 64, .stages = 4, .rows = 144, .cluster = 2}), 0.62},
    {ahead({.columns = 64, .stages = 4, .rows = 160, .cluster = 2}), 0.57},
    {ahead({.columns = 64, .stages = 3, .rows = 160, .cluster = 2}), 0.61},
    {ahead({.columns = 64, .stages = 4, .rows = 176, .cluster = 2}), 0.565},
    {ahead({.columns = 64, .stages = 3, .rows = 176, .cluster = 2}), 0.6},
    {ahead({.columns = 64, .stages = 4, .rows = 192, .cluster = 2}), 0.52},
    {ahead({.columns = 64, .stages = 3, .rows = 192, .cluster = 2}), 0.57},
    {ahead({.columns = 64, .stages = 4, .rows = 144, .cluster = 4}), 0.74},
    {ahead({.columns = 64, .stages = 4, .rows = 176, .cluster = 4}), 0.67},
    {ahead({.columns = 64, .stages = 3, .rows = 192, .cluster = 4}), 0.64},
    {placed({.columns = 128, .panels = 2, .warps = 8, .stages = 3, .share = 4, .rows = 32, .cluster = 2}), 0.81},
    {placed({.columns = 128, .panels = 2, .warps = 8, .stages = 3, .share = 4, .rows = 32}), 0.74},
    {placed({.columns = 128, .panels = 1, .warps = 16, .stages = 3, .share = 8, .rows = 80, .cluster = 2}), 0.76},
    {placed({.columns = 128, .panels = 1, .warps = 16, .stages = 3, .share = 8, .rows = 80}), 0.7},
    {placed({.columns = 128, .panels = 1, .warps = 16, .stages = 3, .share = 8, .rows = 96, .cluster = 2}), 0.64},
    {placed({.columns = 128, .panels = 1, .warps = 16, .stages = 3, .share = 8, .rows = 96}), 0.6},
    {placed({.columns = 128, .panels = 1, .warps = 16, .stages = 4, .share = 8, .rows = 112}), 0.63},
    {placed({.columns = 64, .panels = 1, .warps = 16, .stages = 3, .share = 4, .rows = 96, .cluster = 2}), 0.72},
    {placed({.columns = 64, .panels = 1, .warps = 16, .stages = 3, .share = 4, .rows = 96}), 0.65},
    {placed({.columns = 64, .panels = 1, .warps = 16, .stages = 2, .share = 4, .rows = 96, .cluster = 2}), 0.77},
    {placed({.columns = 64, .panels = 1, .warps = 16, .stages = 2, .share = 4, .rows = 96}), 0.71},
    {placed({.columns = 64, .panels = 1, .warps = 16, .stages = 3, .share = 4, .rows = 80, .cluster = 2}), 0.8},
    {placed({.columns = 64, .panels = 1, .warps = 16, .stages = 3, .share = 4, .rows = 80}), 0.73},
    {placed({.columns = 64, .panels = 1, .warps = 16, .stages = 2, .share = 4, .rows = 80, .cluster = 2}), 0.83},
    {placed({.columns = 64, .panels = 1, .warps = 16, .stages = 2, .share = 4, .rows = 80}), 0.76},
    {placed({.columns = 64, .panels = 1, .warps = 12, .stages = 2, .share = 4, .rows = 128}), 0.69},
    {placed({.columns = 64, .panels = 1, .warps = 12, .stages = 3, .share = 4, .rows = 96}), 0.72},
    {placed({.columns = 64, .panels = 2, .warps = 8, .stages = 3, .share = 2, .rows = 32, .cluster = 2}), 0.92},
    {placed({.columns = 64, .panels = 2, .warps = 8, .stages = 3, .share = 2, .rows = 32}), 0.81},
    {dense({.columns = 64, .panels = 2, .warps = 4, .stages = 2, .share = 4, .rows = 32}), 1.0},
    {dense({.columns = 64, .panels = 6, .warps = 2, .stages = 2, .share = 2}), 1.07},
    {dense({.columns = 64, .panels = 2, .warps = 4, .stages = 2, .share = 4, .rows = 32, .cluster = 2}), 1.1},
    {dense({.columns = 64, .panels = 1, .warps = 4, .stages = 3, .share = 4, .rows = 32}), 1.22},
    {dense({.columns = 32, .panels = 2, .warps = 4, .stages = 3, .share = 4, .rows = 32, .cluster = 2}), 1.32},
    {dense({.columns = 64, .panels = 1, .warps = 4, .stages = 3, .share = 4, .rows = 32, .cluster = 2}), 1.36},
    {dense({.columns = 32, .panels = 1, .warps = 8, .stages = 2, .share = 4, .rows = 32, .cluster = 2}), 1.8}};

constexpr MeasuredStream of_few_columns[] = {
    {listed({.columns = 32, .panels = 3, .warps = 4, .stages = 2, .share = 4, .rows = 32}), 0.97},
    {dense({.columns = 32, .panels = 3, .warps = 4, .stages = 2, .share = 4, .rows = 32}), 1.0},
    {listed({.columns = 32, .panels = 1, .warps = 8, .stages = 2, .share = 4, .rows = 32}), 1.0},
    {dense({.columns = 32, .panels = 2, .warps = 4, .stages = 3, .share = 4, .rows = 32, .cluster = 2}), 1.13},
    {dense({.columns = 32, .panels = 1, .warps = 4, .stages = 4, .share = 4, .rows = 32}), 1.12},
    {dense({.columns = 32, .panels = 1, .warps = 4, .stages = 4, .share = 4, .rows = 32, .cluster = 2}), 1.3},
    {dense({.columns = 16, .panels = 1, .warps = 4, .stages = 4, .share = 4, .rows = 32, .cluster = 2}), 1.9}};

/// Of TF32, whose one product leaves the time to find listed values.
constexpr MeasuredStream of_many_rounded_columns[] = {
    {ahead({.columns = 128, .stages = 4, .rows = 112}), 0.52},
    {ahead({.columns = 128, .stages = 4, .rows = 128}), 0.47},
    {ahead({.columns = 128, .stages = 4, .rows = 128, .cluster = 2}), 0.53},
    {ahead({.columns = 128, .stages = 4, .rows = 144, .cluster = 2}), 0.5},
    {ahead({.columns = 128, .stages = 4, .rows = 144, .cluster = 4}), 0.63},
    {ahead({.columns = 128, .stages = 4, .rows = 160, .cluster = 2}), 0.47},
    {ahead({.columns = 128, .stages = 4, .rows = 176, .cluster = 2}), 0.45},
    {ahead({.columns = 128, .stages = 4, .rows = 192, .cluster = 2}), 0.435},
    {ahead({.columns = 128, .stages = 3, .rows = 192, .cluster = 2}), 0.46},
    {ahead({.columns = 64, .stages = 4, .rows = 128}), 0.56},
    {ahead({.columns = 64, .stages = 4, .rows = 144}), 0.52},
    {ahead({.columns = 64, .stages = 4, .rows = 160}), 0.5},
    {ahead({.columns = 64, .stages = 4, .rows = 176}), 0.49},
    {ahead({.columns = 64, .stages = 3, .rows = 176}), 0.51},
    {ahead({.columns = 64, .stages = 4, .rows = 128, .cluster = 2}), 0.66},
    {ahead({.columns = 64, .stages = 4, .rows = 144, .cluster = 2}), 0.61},
    {ahead({.columns = 64, .stages = 4, .rows = 160, .cluster = 2}), 0.58},
    {ahead({.columns = 64, .stages = 4, .rows = 176, .cluster = 2}), 0.565},
    {ahead({.columns = 64, .stages = 3, .rows = 176, .cluster = 2}), 0.6},
    {ahead({.columns = 64, .stages = 4, .rows = 192, .cluster = 2}), 0.53},
    {ahead({.columns = 64, .stages = 4, .rows = 144, .cluster = 4}), 0.79},
    {ahead({.columns = 64, .stages = 4, .rows = 176, .cluster = 4}), 0.72},
    {placed({.columns = 128, .panels = 4, .warps = 4, .stages = 3, .share = 2, .rows = 32, .cluster = 2}), 0.52},
    {placed({.columns = 128, .panels = 4, .warps = 4, .stages = 3, .share = 2, .rows = 32}), 0.48},
    {placed({.columns = 128, .panels = 1, .warps = 16, .stages = 3, .share = 8, .rows = 128}), 0.45},
    {placed({.columns = 128, .panels = 2, .warps = 8, .stages = 4, .share = 4, .rows = 32, .cluster = 2}), 0.73},
    {placed({.columns = 128, .panels = 2, .warps = 8, .stages = 4, .share = 4, .rows = 32}), 0.65},
    {placed({.columns = 128, .panels = 1, .warps = 16, .stages = 3, .share = 8, .rows = 80, .cluster = 2}), 0.62},
    {placed({.columns = 128, .panels = 1, .warps = 16, .stages = 3, .share = 8, .rows = 80}), 0.58},
    {placed({.columns = 128, .panels = 1, .warps = 16, .stages = 3, .share = 8, .rows = 96, .cluster = 2}), 0.57},
    {placed({.columns = 128, .panels = 1, .warps = 16, .stages = 3, .share = 8, .rows = 96}), 0.51},
    {placed({.columns = 128, .panels = 1, .warps = 16, .stages = 3, .share = 8, .rows = 112}), 0.48},
    {placed({.columns = 64, .panels = 1, .warps = 16, .stages = 2, .share = 4, .rows = 80, .cluster = 4}), 1},
    {placed({.columns = 64, .panels = 1, .warps = 16, .stages = 3, .share = 4, .rows = 80, .cluster = 2}), 0.77},
    {placed({.columns = 64, .panels = 1, .warps = 16, .stages = 3, .share = 4, .rows = 80}), 0.63},
    {placed({.columns = 64, .panels = 1, .warps = 16, .stages = 2, .share = 4, .rows = 80, .cluster = 2}), 0.83},
    {placed({.columns = 64, .panels = 1, .warps = 16, .stages = 3, .share = 4, .rows = 96, .cluster = 2}), 0.69},
    {placed({.columns = 64, .panels = 1, .warps = 16, .stages = 3, .share = 4, .rows = 96}), 0.58},
    {placed({.columns = 64, .panels = 1, .warps = 16, .stages = 2, .share = 4, .rows = 96, .cluster = 2}), 0.77},
    {placed({.columns = 64, .panels = 1, .warps = 16, .stages = 2, .share = 4, .rows = 96}), 0.68},
    {placed({.columns = 64, .panels = 1, .warps = 16, .stages = 2, .share = 4, .rows = 112}), 0.6},
    {placed({.columns = 64, .panels = 4, .warps = 4, .stages = 2, .rows = 32, .cluster = 2}), 0.66},
    {placed({.columns = 64, .panels = 4, .warps = 4, .stages = 2, .rows = 32}), 0.59},
    {placed({.columns = 64, .panels = 2, .warps = 8, .stages = 3, .share = 2, .rows = 32, .cluster = 2}), 0.95},
    {placed({.columns = 64, .panels = 2, .warps = 8, .stages = 3, .share = 2, .rows = 32}), 0.8},
    {listed({.columns = 64, .panels = 2, .warps = 4, .stages = 2, .share = 4, .rows = 32, .cluster = 2}), 1.0},
    {listed({.columns = 64, .panels = 2, .warps = 4, .stages = 3, .share = 4, .rows = 32}), 0.82},
    {listed({.columns = 64, .panels = 3, .warps = 4, .stages = 2, .share = 4}), 1.08},
    {listed({.columns = 64, .panels = 1, .warps = 8, .stages = 2, .share = 4, .rows = 32}), 1.15},
    {listed({.columns = 64, .panels = 1, .warps = 4, .stages = 3, .share = 4, .rows = 32, .cluster = 2}), 1.4}};

constexpr MeasuredStream of_few_rounded_columns[] = {
    {listed({.columns = 32, .panels = 2, .warps = 8, .stages = 2, .share = 4, .rows = 32, .cluster = 2}), 1.0},
    {listed({.columns = 32, .panels = 2, .warps = 8, .stages = 2, .share = 4, .rows = 32}), 0.82},
    {listed({.columns = 32, .panels = 1, .warps = 8, .stages = 2, .share = 4, .rows = 32}), 1.17}};

constexpr long long few_columns = 32;

bool has_few_columns(const LayerShape& shape) { return shape.bcol <= few_columns; }
bool is_rounded(const LayerShape& shape) { return shape.dtype == "tf32"; }

std::span<const MeasuredStream> measured_with_many(const LayerShape& shape) {
  return is_rounded(shape) ? std::span<const MeasuredStream>(of_many_rounded_columns) : of_many_columns;
}

/// Placed values are multiplied by 64 columns at once: a block takes as long with 32 of them, beside schedules that
/// take less.
std::vector<MeasuredStream> measured_with_few(const LayerShape& shape) {
  const auto listed = is_rounded(shape) ? std::span<const MeasuredStream>(of_few_rounded_columns) : of_few_columns;
  std::vector<MeasuredStream> measured(listed.begin(), listed.end());
  const double of_listed = is_rounded(shape) ? 0.7 : 0.74;
  for (const MeasuredStream& one : measured_with_many(shape)) {
    if (one.schedule.is_placed() && one.schedule.columns == 2 * few_columns) {
      measured.push_back({one.schedule, one.slowness * of_listed});
    }
  }
  return measured;
}

constexpr double half_as_high = 2048.0 * 4096;
constexpr double fills_device = 4096.0 * 4096;

/// Of float32. With 32 columns bytes count; on small layers dense steps are level at 70 % zeros.
bool pays_with_three_products(const LayerShape& shape) {
  constexpr double smallest = 1024.0 * 4096;
  const double least_density = !has_few_columns(shape) && shape.elements() >= half_as_high ? 0.28 : 0.35;
  return shape.elements() >= smallest && shape.density() >= least_density;
}

/// Of TF32. Where all of a layer is multiplied at once listed values were faster to 90 % zeros; in larger ones, and in
/// smaller ones with many columns, fewer steps of the sparse tensor core are from
/// 80 % on.
bool pays_rounded(const LayerShape& shape) {
  const double smallest = !has_few_columns(shape) ? half_as_high : fills_device;
  const bool is_one_wave = shape.elements() >= fills_device && shape.elements() <= 1.5 * fills_device;
  const double least_density = is_one_wave                                                        ? 0.09
                               : shape.elements() < fills_device && shape.bcol <= 2 * few_columns ? 0.35
                                                                                                  : 0.28;
  return shape.elements() >= smallest && shape.density() >= least_density;
}

/// The share of non-zeros from which on a warp for each row takes longer than placed values, whose time is nearly the
/// same for any: 11,008 x 4096 and 8192 x 8192 at 93 to 97 % zeros, smaller ones at 90 to 95 %, on one H200.
double least_placed_density(const LayerShape& shape) {
  constexpr double nearly_always = 0.09;
  const bool takes_waves = shape.elements() >= 1.5 * fills_device;
  if (!is_rounded(shape)) {
    return takes_waves && !has_few_columns(shape) ? 0.06 : nearly_always;
  }
  if (has_few_columns(shape)) {
    return takes_waves ? 0.065 : nearly_always;
  }
  return !takes_waves ? 0.055 : shape.bcol <= 2 * few_columns ? 0.04 : 0.035;
}

/// Of both, with values that are placed. With few columns they are for layers that take several waves of other blocks.
bool pays_placed(const LayerShape& shape) {
  const double smallest = has_few_columns(shape) ? 1.5 * fills_device : fills_device;
  return shape.elements() >= smallest && shape.density() >= least_placed_density(shape);
}

/// Whether dense steps of this kind were faster for layers of this shape and share of zeros.
bool pays(const LayerShape& shape, StreamSchedule::Dense dense) {
  if (dense == StreamSchedule::Dense::placed) {
    return pays_placed(shape);
  }
  return shape.dtype == "f32" ? pays_with_three_products(shape) : pays_rounded(shape);
}

/// Whether layers were measured that are like this one.
bool is_measured(const LayerShape& shape) {
  constexpr std::int64_t least_windows = 16;
  return (shape.dtype == "f32" || shape.dtype == "tf32") && shape.layout == "kn" && shape.bcol >= few_columns &&
         shape.columns >= least_windows * StreamSchedule::window_columns(sizeof(float)) && !follows_power_law(shape);
}

/// Whether enough multiprocessors have a block. Placed values are worth it with fewer, as one block of them with 128
/// rows takes so much less time; but of few non-zeros and 64 columns only where nearly all have one to the end, as the
/// sparse tensor core has fewer steps.
bool reaches_enough(const StreamSchedule& schedule, const LayerShape& shape, const KernelTarget& target) {
  const std::int64_t blocks = blocks_of(schedule, shape);
  if (!schedule.is_placed()) {
    return reaches_most(blocks, target);
  }
  constexpr double few_nonzeros = 0.25;
  if (shape.bcol <= 2 * few_columns && shape.density() < few_nonzeros) {
    return 20 * blocks >= 17 * quotient_up(blocks, target.multiprocessors) * target.multiprocessors;
  }
  return 8 * blocks >= 5 * std::int64_t{target.multiprocessors};
}

/// In products of the multiprocessor that has most of them.
double expected_time(const MeasuredStream& one, const LayerShape& shape, const KernelTarget& target) {
  const StreamSchedule& schedule = one.schedule;
  const auto of_busiest = static_cast<double>(quotient_up(blocks_of(schedule, shape), target.multiprocessors));
  const double of_values = schedule.is_placed() ? 1 + 0.4 * (shape.density() - 0.4) : 1;
  return of_busiest * schedule.panels * schedule.rows * schedule.columns / schedule.cluster * one.slowness * of_values;
}

}  // namespace

std::vector<StreamSchedule> dense_streams(const LayerShape& shape, const KernelTarget& target) {
  if (!is_measured(shape) || target.oldest_architecture < StreamSchedule::cluster_architecture) {
    return {};
  }
  std::vector<std::pair<double, StreamSchedule>> timed;
  const auto add = [&](const MeasuredStream& one) {
    if (pays(shape, one.schedule.dense) && suits_dense_steps(one.schedule, shape, target) &&
        fits_clusters(one.schedule, shape) && reaches_enough(one.schedule, shape, target)) {
      timed.emplace_back(expected_time(one, shape, target), one.schedule);
    }
  };
  if (has_few_columns(shape)) {
    std::ranges::for_each(measured_with_few(shape), add);
  } else {
    std::ranges::for_each(measured_with_many(shape), add);
  }
  return fastest_first(std::move(timed));
}

}  // namespace esc
