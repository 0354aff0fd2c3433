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

/// A schedule, and how long it took for as many products of a multiprocessor as the first one of its table: 2048 x 2048 to 11,008 x 4096 at 50 to 80 % zeros, with
/// listed values to 90 %, on one NVIDIA H100.
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
constexpr StreamSchedule listed(const StreamSchedule& schedule) { return stream(schedule, StreamSchedule::Dense::listed); }

/// Of float32, where C has more than 32 columns, and where it has 32, for which memory binds.
constexpr MeasuredStream of_many_columns[] = {
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

std::span<const MeasuredStream> measured_for(const LayerShape& shape) {
  const bool is_rounded = shape.dtype == "tf32";
  if (shape.bcol > few_columns) {
    return is_rounded ? std::span<const MeasuredStream>(of_many_rounded_columns) : of_many_columns;
  }
  return is_rounded ? std::span<const MeasuredStream>(of_few_rounded_columns) : of_few_columns;
}

constexpr double half_as_high = 2048.0 * 4096;
constexpr double fills_device = 4096.0 * 4096;

/// Of float32. With 32 columns bytes count; on small layers dense steps are level at 70 % zeros.
bool pays_with_three_products(const LayerShape& shape) {
  constexpr double smallest = 1024.0 * 4096;
  const double least_density = shape.bcol > few_columns && shape.elements() >= half_as_high ? 0.28 : 0.35;
  return shape.elements() >= smallest && shape.density() >= least_density;
}

/// Of TF32. Where all of a layer is multiplied at once listed values were faster to 90 % zeros; in larger ones, and in smaller ones with many columns, fewer steps of the sparse tensor core are from
/// 80 % on.
bool pays_rounded(const LayerShape& shape) {
  const double smallest = shape.bcol > few_columns ? half_as_high : fills_device;
  const bool is_one_wave = shape.elements() >= fills_device && shape.elements() <= 1.5 * fills_device;
  const double least_density = is_one_wave ? 0.09 : shape.elements() < fills_device && shape.bcol <= 2 * few_columns ? 0.35 : 0.28;
  return shape.elements() >= smallest && shape.density() >= least_density;
}

/// Whether dense steps were faster for layers of this shape and share of zeros.
bool pays(const LayerShape& shape) {
  constexpr std::int64_t least_windows = 16;
  return shape.layout == "kn" && shape.bcol >= few_columns && shape.columns >= least_windows * StreamSchedule::window_columns(sizeof(float)) && !follows_power_law(shape) &&
         ((shape.dtype == "f32" && pays_with_three_products(shape)) || (shape.dtype == "tf32" && pays_rounded(shape)));
}

bool fits(const StreamSchedule& schedule, const LayerShape& shape, const KernelTarget& target) {
  const std::int64_t unit_bytes = dense_unit_bytes(schedule.dense, shape.dtype, shape.density(), schedule.rows);
  const std::int64_t bytes = shared_bytes(schedule, shape.dtype, unit_bytes, staged_window_bytes(schedule, shape.dtype, shape.layout));
  return std::cmp_less_equal(bytes, target.shared_bytes);
}

/// In products of the multiprocessor that has most of them.
double expected_time(const MeasuredStream& one, const LayerShape& shape, const KernelTarget& target) {
  const StreamSchedule& schedule = one.schedule;
  const auto of_busiest = static_cast<double>(quotient_up(blocks_of(schedule, shape), target.multiprocessors));
  return of_busiest * schedule.panels * schedule.rows * schedule.columns / schedule.cluster * one.slowness;
}

}  // namespace

std::vector<StreamSchedule> dense_streams(const LayerShape& shape, const KernelTarget& target) {
  if (!pays(shape) || target.oldest_architecture < StreamSchedule::cluster_architecture) {
    return {};
  }
  std::vector<std::pair<double, StreamSchedule>> timed;
  const auto add = [&](const MeasuredStream& one) {
    if (reaches_most(blocks_of(one.schedule, shape), target) && fits(one.schedule, shape, target)) {
      timed.emplace_back(expected_time(one, shape, target), one.schedule);
    }
  };
  std::ranges::for_each(measured_for(shape), add);
  return fastest_first(std::move(timed));
}

}  // namespace esc
