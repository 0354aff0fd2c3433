// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/one_wave_streams.h"

#include <algorithm>

#include "generator/schedule/quotient_up.h"

namespace esc {
namespace {

constexpr double small_layer = 1024.0 * 1024;
constexpr int full_block_warps = 4;
/// What the warps of panels that fill a block alone go through in a turn or two: more windows keep more warps at work.
constexpr std::int64_t few_windows = 4;
/// With more non-zeros units are larger, so that shared memory has room for fewer of them at once.
constexpr double small_units = 1.0 / 3;
constexpr double middle_units = 0.45;

int panels_for(const LayerShape& shape, const KernelTarget& target, const StreamSchedule& schedule) {
  const std::int64_t blocks = quotient_up(shape.rows, schedule.rows) * quotient_up(shape.bcol, schedule.columns);
  return static_cast<int>(std::min<std::int64_t>(quotient_up(blocks, target.multiprocessors), full_block_warps));
}

}  // namespace

bool pays_in_one_wave(const LayerShape& shape) {
  constexpr std::int64_t least_rows = 512;
  constexpr double smallest = 512.0 * 512;
  constexpr double largest = 2048.0 * 2048;
  const double size = shape.elements();
  if (shape.dtype != "tf32" || shape.layout != "kn" || shape.rows < least_rows || size < smallest || size >= largest) {
    return false;
  }
  const double density = shape.density();
  if (size < small_layer) {
    return shape.bcol >= 256 && density >= 0.3;
  }
  return shape.bcol >= 256   ? density >= 0.1
         : shape.bcol >= 128 ? density >= 0.28
                             : shape.bcol >= 64 && density >= 0.28 && density <= 0.45;
}

std::vector<StreamSchedule> one_wave_streams(const LayerShape& shape, const KernelTarget& target) {
  const bool small = shape.elements() < small_layer;
  StreamSchedule schedule{.columns = small ? 32 : 16, .stages = 2, .rows = small ? 16 : 32};
  if (panels_for(shape, target, schedule) > 2) {
    schedule.columns = 32;
  }
  schedule.panels = panels_for(shape, target, schedule);
  const std::int64_t windows = quotient_up(shape.columns, StreamSchedule::window_columns(sizeof(float)));
  schedule.warps = std::max(1, full_block_warps / schedule.panels);
  if (schedule.panels == 2 && windows > few_windows && shape.density() <= small_units) {
    schedule.warps = 3;
  }
  if (schedule.warps == 1 && shape.density() <= middle_units) {
    schedule.stages = 3;
  }
  schedule.copies = StreamSchedule::measured_copies(target.oldest_architecture);
  StreamSchedule leaner = schedule;
  leaner.stages = 2;
  leaner.warps = std::max(1, schedule.warps - 1);
  return {schedule, leaner};
}

}  // namespace esc
