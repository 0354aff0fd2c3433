// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/wide_streams.h"

#include <algorithm>

#include "generator/schedule/element_types.h"
#include "generator/schedule/even_panels.h"
#include "generator/schedule/streamed_size.h"

namespace esc {
namespace {

/// 8192 x 28,672 at 50 % zeros with 8, 16 and 32 columns, beside listed values and other copies.
bool is_measured(const LayerShape& shape) {
  constexpr double smallest = 1.5e8;
  constexpr std::int64_t least_columns = 1 << 14;
  constexpr double sparsest = 0.38;
  return is_half_type(shape.dtype) && shape.layout == "kn" && shape.bcol <= 32 && shape.columns >= least_columns && shape.elements() >= smallest && shape.density() >= sparsest &&
         !follows_power_law(shape);
}

StreamSchedule fastest_with(int panels, int columns) {
  const int warps = columns < 32 ? 12 : 8;  // of a block
  return {.columns = columns,
          .panels = panels,
          .warps = std::max(1, warps / panels),
          .stages = 2,
          .copies = columns == 16 ? StreamSchedule::Copies::units : StreamSchedule::Copies::bulk};
}

}  // namespace

std::vector<ScheduleChoice> wide_streams(const LayerShape& shape, const KernelTarget& target) {
  if (!is_measured(shape) || target.oldest_architecture < StreamSchedule::bulk_architecture) {
    return {};
  }
  const int columns = widest_stream(shape.bcol);
  const StreamSchedule schedule = fastest_with(even_panels(streamed_size(shape), columns, target), columns);
  if (!reaches_most(blocks_of(schedule, shape), target)) {
    return {};
  }
  StreamSchedule leaner = schedule;
  leaner.warps = std::max(1, schedule.warps / 2);
  const char* const source = "by rule: wide layers larger than a cache are streamed by as few blocks as there are multiprocessors; measured on one NVIDIA H200";
  return {{schedule, source}, {leaner, source}};
}

}  // namespace esc
