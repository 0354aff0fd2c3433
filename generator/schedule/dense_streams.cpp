// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/dense_streams.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>
#include <utility>

#include "generator/schedule/quotient_up.h"
#include "generator/schedule/streamed_size.h"

namespace esc {
namespace {

/// A schedule, and how long it took for as many products of a multiprocessor as the one that took the least: 1024 x 4096 to 11,008 x 4096 at 50 to 80 % zeros, on one NVIDIA H100.
struct MeasuredStream {
  StreamSchedule schedule;
  double slowness;
};

constexpr StreamSchedule dense(StreamSchedule schedule) {
  schedule.copies = StreamSchedule::Copies::bulk;
  schedule.dense = true;
  return schedule;
}

constexpr MeasuredStream of_64_columns[] = {
    MeasuredStream{dense({.columns = 64, .panels = 2, .warps = 4, .stages = 2, .share = 4, .rows = 32}), 1.0},
    MeasuredStream{dense({.columns = 64, .panels = 6, .warps = 2, .stages = 2, .share = 2}), 1.07},
    MeasuredStream{dense({.columns = 64, .panels = 2, .warps = 4, .stages = 2, .share = 4, .rows = 32, .cluster = 2}), 1.1},
    MeasuredStream{dense({.columns = 64, .panels = 1, .warps = 4, .stages = 3, .share = 4, .rows = 32}), 1.22},
    MeasuredStream{dense({.columns = 64, .panels = 1, .warps = 4, .stages = 3, .share = 4, .rows = 32, .cluster = 2}), 1.36}};

constexpr MeasuredStream of_32_columns[] = {
    MeasuredStream{dense({.columns = 32, .panels = 3, .warps = 4, .stages = 2, .share = 4, .rows = 32}), 1.0},
    MeasuredStream{dense({.columns = 32, .panels = 2, .warps = 4, .stages = 3, .share = 4, .rows = 32, .cluster = 2}), 1.13},
    MeasuredStream{dense({.columns = 32, .panels = 1, .warps = 4, .stages = 4, .share = 4, .rows = 32}), 1.12},
    MeasuredStream{dense({.columns = 32, .panels = 1, .warps = 4, .stages = 4, .share = 4, .rows = 32, .cluster = 2}), 1.3}};

/// Whether dense steps were faster for layers of this shape and share of zeros. With 32 columns memory binds, so that bytes count; on smaller layers they are level at 70 % zeros.
bool pays(const LayerShape& shape) {
  constexpr double smallest = 1024.0 * 4096;
  constexpr long long least_columns = 32;
  constexpr std::int64_t least_windows = 16;
  constexpr double large = 4096.0 * 4096;
  const double least_density = shape.bcol > least_columns && shape.elements() >= large ? 0.28 : 0.35;
  return shape.dtype == "f32" && shape.layout == "kn" && shape.bcol >= least_columns && shape.elements() >= smallest &&
         shape.columns >= least_windows * StreamSchedule::window_columns(sizeof(float)) && shape.density() >= least_density && !follows_power_law(shape);
}

bool fits(const StreamSchedule& schedule, const LayerShape& shape, const KernelTarget& target) {
  constexpr std::int64_t unit_bytes_of_strip = 8192;
  const std::int64_t bytes = shared_bytes(schedule, unit_bytes_of_strip * schedule.row_strips(), staged_window_bytes(schedule, shape.dtype, shape.layout));
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
  constexpr long long few_columns = 32;
  std::ranges::for_each(shape.bcol > few_columns ? std::span<const MeasuredStream>(of_64_columns) : of_32_columns, add);
  std::ranges::stable_sort(timed, {}, &std::pair<double, StreamSchedule>::first);
  std::vector<StreamSchedule> schedules;
  std::ranges::transform(timed, std::back_inserter(schedules), &std::pair<double, StreamSchedule>::second);
  return schedules;
}

}  // namespace esc
