// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/dense_streams.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>

#include "generator/schedule/quotient_up.h"
#include "generator/schedule/streamed_size.h"

namespace esc {
namespace {

/// A schedule, and how long it took for as many products of a multiprocessor as the first one of its kind: 2048 x 2048 to 11,008 x 4096 at 50 to 80 % zeros, on one NVIDIA H100.
struct MeasuredStream {
  StreamSchedule schedule;
  double slowness;
  double slowness_rounded;  ///< the same in TF32, of which copies bind
};

constexpr double not_measured = std::numeric_limits<double>::infinity();

constexpr StreamSchedule dense(StreamSchedule schedule) {
  schedule.copies = StreamSchedule::Copies::bulk;
  schedule.dense = true;
  return schedule;
}

/// Where C has more than 32 columns, and where it has 32, for which memory binds.
constexpr MeasuredStream of_many_columns[] = {
    {dense({.columns = 64, .panels = 2, .warps = 4, .stages = 2, .share = 4, .rows = 32}), 1.0, 1.0},
    {dense({.columns = 64, .panels = 6, .warps = 2, .stages = 2, .share = 2}), 1.07, 0.87},
    {dense({.columns = 64, .panels = 2, .warps = 4, .stages = 2, .share = 4, .rows = 32, .cluster = 2}), 1.1, 1.18},
    {dense({.columns = 64, .panels = 1, .warps = 4, .stages = 3, .share = 4, .rows = 32}), 1.22, 1.4},
    {dense({.columns = 32, .panels = 2, .warps = 4, .stages = 3, .share = 4, .rows = 32, .cluster = 2}), 1.32, not_measured},
    {dense({.columns = 64, .panels = 1, .warps = 4, .stages = 3, .share = 4, .rows = 32, .cluster = 2}), 1.36, not_measured},
    {dense({.columns = 32, .panels = 1, .warps = 8, .stages = 2, .share = 4, .rows = 32, .cluster = 2}), 1.8, not_measured}};

constexpr MeasuredStream of_few_columns[] = {
    {dense({.columns = 32, .panels = 3, .warps = 4, .stages = 2, .share = 4, .rows = 32}), 1.0, 1.0},
    {dense({.columns = 32, .panels = 2, .warps = 4, .stages = 3, .share = 4, .rows = 32, .cluster = 2}), 1.13, 1.13},
    {dense({.columns = 32, .panels = 1, .warps = 4, .stages = 4, .share = 4, .rows = 32}), 1.12, 1.12},
    {dense({.columns = 32, .panels = 1, .warps = 4, .stages = 4, .share = 4, .rows = 32, .cluster = 2}), 1.3, 1.3},
    {dense({.columns = 16, .panels = 1, .warps = 4, .stages = 4, .share = 4, .rows = 32, .cluster = 2}), 1.9, not_measured}};

/// Whether dense steps were faster for layers of this shape and share of zeros. With 32 columns bytes count; on small layers they are level at 70 % zeros, and in TF32 altogether.
bool pays(const LayerShape& shape) {
  constexpr double smallest = 1024.0 * 4096;
  constexpr double large = 2048.0 * 4096;
  constexpr double smallest_rounded = 4096.0 * 4096;
  constexpr long long least_columns = 32;
  constexpr std::int64_t least_windows = 16;
  const bool is_rounded = shape.dtype == "tf32";
  const double least_density = shape.bcol > least_columns && shape.elements() >= large ? 0.28 : 0.35;
  return (shape.dtype == "f32" || is_rounded) && shape.layout == "kn" && shape.bcol >= least_columns && shape.elements() >= (is_rounded ? smallest_rounded : smallest) &&
         shape.columns >= least_windows * StreamSchedule::window_columns(sizeof(float)) && shape.density() >= least_density && !follows_power_law(shape);
}

bool fits(const StreamSchedule& schedule, const LayerShape& shape, const KernelTarget& target) {
  const std::int64_t unit_bytes = std::int64_t{StreamSchedule::window_bytes} * schedule.rows;
  const std::int64_t bytes = shared_bytes(schedule, unit_bytes, staged_window_bytes(schedule, shape.dtype, shape.layout));
  return std::cmp_less_equal(bytes, target.shared_bytes);
}

/// In products of the multiprocessor that has most of them.
double expected_time(const MeasuredStream& one, const LayerShape& shape, const KernelTarget& target) {
  const StreamSchedule& schedule = one.schedule;
  const auto of_busiest = static_cast<double>(quotient_up(blocks_of(schedule, shape), target.multiprocessors));
  return of_busiest * schedule.panels * schedule.rows * schedule.columns / schedule.cluster * (shape.dtype == "tf32" ? one.slowness_rounded : one.slowness);
}

}  // namespace

std::vector<StreamSchedule> dense_streams(const LayerShape& shape, const KernelTarget& target) {
  if (!pays(shape) || target.oldest_architecture < StreamSchedule::cluster_architecture) {
    return {};
  }
  std::vector<std::pair<double, StreamSchedule>> timed;
  const auto add = [&](const MeasuredStream& one) {
    const double time = expected_time(one, shape, target);
    if (std::isfinite(time) && reaches_most(blocks_of(one.schedule, shape), target) && fits(one.schedule, shape, target)) {
      timed.emplace_back(time, one.schedule);
    }
  };
  constexpr long long few_columns = 32;
  std::ranges::for_each(shape.bcol > few_columns ? std::span<const MeasuredStream>(of_many_columns) : of_few_columns, add);
  return fastest_first(std::move(timed));
}

}  // namespace esc
