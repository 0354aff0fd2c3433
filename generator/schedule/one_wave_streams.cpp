// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/one_wave_streams.h"

#include <algorithm>

#include "generator/schedule/quotient_up.h"
#include "generator/schedule/streamed_size.h"

namespace esc {
namespace {

constexpr double small_layer = 1024.0 * 1024;
constexpr int full_block_warps = 4;
/// What the warps of panels that fill a block alone go through in a turn or two: more windows keep more warps at work.
constexpr std::int64_t few_windows = 4;
/// With more non-zeros units are larger, so that shared memory has room for fewer of them at once.
constexpr double small_units = 1.0 / 3;
constexpr double middle_units = 0.45;

constexpr std::int64_t least_rows = 512;
constexpr double least_elements = 512.0 * 512;
constexpr double largest = 2048.0 * 2048;

std::int64_t windows_of(const LayerShape& shape) {
  return quotient_up(shape.columns, StreamSchedule::window_columns(sizeof(float)));
}

/// About as many as the GPU has multiprocessors on which that was measured.
constexpr std::int64_t one_wave = 128;

/// Three products for each. In the smallest layers their latency counts, and so they are few.
bool pays_split(const LayerShape& shape) {
  constexpr double half_small = small_layer / 2;
  constexpr double least_density = 0.18;
  if (!fills_one_wave(shape)) {
    return false;
  }
  const double size = shape.elements();
  const double density = shape.density();
  if (size < half_small) {
    return shape.bcol >= 256 && density >= 0.27 && density <= 0.42;
  }
  if (size < small_layer) {
    return shape.bcol >= 256 && density >= least_density;
  }
  return shape.bcol >= 128
             ? density >= least_density
             : shape.bcol >= 64 && density >= (size < 2 * small_layer ? 0.25 : least_density) && density <= 0.38;
}

/// One product.
bool pays_rounded(const LayerShape& shape) {
  const double density = shape.density();
  if (shape.elements() < small_layer) {
    return shape.bcol >= 256 && density >= 0.3;
  }
  return shape.bcol >= 256   ? density >= 0.1
         : shape.bcol >= 128 ? density >= 0.28
                             : shape.bcol >= 64 && density >= 0.28 && density <= 0.45;
}

/// Where panels of 32 rows are enough for two in a block, each element of B that it copies is multiplied by 64 rows;
/// else a block has 32 rows, or 16 columns.
StreamSchedule split_schedule(const LayerShape& shape) {
  constexpr std::int64_t some_windows = 8;
  if (blocks_of_output(shape, 64, 32) >= one_wave) {
    return {.columns = 32, .panels = 2, .warps = 2, .stages = 2, .share = 2, .rows = 32};
  }
  if (windows_of(shape) <= some_windows) {
    return {.columns = 32, .panels = 2, .warps = 4, .stages = 2, .share = 4};
  }
  return shape.density() <= small_units
             ? StreamSchedule{.columns = 32, .panels = 1, .warps = 8, .stages = 2, .share = 4, .rows = 32}
             : StreamSchedule{.columns = 16, .panels = 2, .warps = 2, .stages = 2, .rows = 32};
}

int panels_for(const LayerShape& shape, const KernelTarget& target, const StreamSchedule& schedule) {
  const std::int64_t blocks = blocks_of_output(shape, schedule.rows, schedule.columns);
  return static_cast<int>(std::min<std::int64_t>(quotient_up(blocks, target.multiprocessors), full_block_warps));
}

StreamSchedule rounded_schedule(const LayerShape& shape, const KernelTarget& target) {
  const bool small = shape.elements() < small_layer;
  StreamSchedule schedule{.columns = small ? 32 : 16, .stages = 2, .rows = small ? 16 : 32};
  if (panels_for(shape, target, schedule) > 2) {
    schedule.columns = 32;
  }
  schedule.panels = panels_for(shape, target, schedule);
  schedule.warps = std::max(1, full_block_warps / schedule.panels);
  if (schedule.panels == 2 && windows_of(shape) > few_windows && shape.density() <= small_units) {
    schedule.warps = 3;
  }
  if (schedule.warps == 1 && shape.density() <= middle_units) {
    schedule.stages = 3;
  }
  return schedule;
}

}  // namespace

bool fills_one_wave(const LayerShape& shape) { return blocks_of_output(shape, 32, 32) >= one_wave; }

bool pays_in_one_wave(const LayerShape& shape) {
  if (shape.layout != "kn" || shape.rows < least_rows || shape.elements() < least_elements ||
      shape.elements() >= largest) {
    return false;
  }
  return shape.dtype == "tf32" ? pays_rounded(shape) : shape.dtype == "f32" && pays_split(shape);
}

std::vector<StreamSchedule> one_wave_streams(const LayerShape& shape, const KernelTarget& target) {
  StreamSchedule schedule = shape.dtype == "tf32" ? rounded_schedule(shape, target) : split_schedule(shape);
  schedule.copies = StreamSchedule::measured_copies(target.oldest_architecture);
  StreamSchedule leaner = schedule;
  leaner.stages = 2;
  leaner.warps = std::max(schedule.share, schedule.warps - schedule.share);
  return {schedule, leaner};
}

}  // namespace esc
