// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/clustered_streams.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "generator/schedule/streamed_size.h"

namespace esc {
namespace {

constexpr StreamSchedule clustered(StreamSchedule schedule) {
  schedule.stages = 2;
  schedule.share = 2;
  schedule.rows = StreamSchedule::max_rows;
  schedule.copies = StreamSchedule::Copies::bulk;
  schedule.cluster = 2;
  return schedule;
}

/// Those that multiply each element of B most often first.
constexpr std::array shapes{clustered({.columns = 32, .panels = 2, .warps = 4}),
                            clustered({.columns = 32, .panels = 1, .warps = 4}),
                            clustered({.columns = 16, .panels = 1, .warps = 8})};

/// Whether each multiprocessor has one block at most, and most of them have one.
bool fills(std::int64_t blocks, int multiprocessors) {
  return blocks <= multiprocessors && 3 * blocks >= 2 * std::int64_t{multiprocessors};
}

/// What family panel is slower for. Narrow blocks copy as many elements of B for half of the products.
bool pays(const StreamSchedule& schedule, const LayerShape& shape) {
  constexpr double large = 1024.0 * 4096;
  constexpr double least_density = 0.18;
  constexpr double least_density_of_narrow = 0.28;
  const bool is_narrow = schedule.columns == 16 && shape.elements() < large;
  return shape.density() >= (is_narrow ? least_density_of_narrow : least_density);
}

}  // namespace

std::vector<StreamSchedule> clustered_streams(const LayerShape& shape, const KernelTarget& target) {
  constexpr std::int64_t least_rows = 512;
  constexpr std::int64_t least_windows = 16;
  constexpr long long least_columns = 32;
  constexpr long long most_rounded_columns = 128;
  const bool is_of_type = shape.dtype == "f32" || (shape.dtype == "tf32" && shape.bcol <= most_rounded_columns);
  const bool is_measured = is_of_type && shape.layout == "kn" && shape.rows >= least_rows &&
                           shape.bcol >= least_columns &&
                           shape.columns >= least_windows * StreamSchedule::window_columns(sizeof(float));
  if (!is_measured || target.oldest_architecture < StreamSchedule::cluster_architecture) {
    return {};
  }
  const auto* const found = std::ranges::find_if(
      shapes, [&](const StreamSchedule& one) { return fills(blocks_of(one, shape), target.multiprocessors); });
  if (found == shapes.end() || !pays(*found, shape)) {
    return {};
  }
  const StreamSchedule& schedule = *found;
  StreamSchedule leaner = schedule;
  leaner.warps = schedule.share;
  return {schedule, leaner};
}

}  // namespace esc
