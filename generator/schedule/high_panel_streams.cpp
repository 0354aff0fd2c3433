// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/high_panel_streams.h"

#include <string>

#include "generator/schedule/even_panels.h"
#include "generator/schedule/streamed_size.h"

namespace esc {
namespace {

/// A block's panels, of which a multiprocessor gets one block; 0 for numbers that were not measured.
int high_panels(const LayerShape& shape, const KernelTarget& target) {
  const int panels = even_panels(streamed_size(shape), widest_stream(shape.bcol), target);
  return panels == 4 || panels == 6 ? panels / (StreamSchedule::max_rows / StreamSchedule::strip_rows) : 0;
}

/// 8192 x 8192 at 60 and 70 % zeros on an H200, and at 50 % on an H100, whose memory is so slow that with more zeros
/// the fewer bytes of quarter steps are worth more.
bool waits_for_rows_of_b(const LayerShape& shape, const KernelTarget& target) {
  constexpr long long columns = 32;
  constexpr double sparsest = 0.24;
  constexpr double densest = 0.55;
  return shape.bcol == columns && has_fast_memory(target) && shape.density() >= sparsest && shape.density() <= densest;
}

/// 75 to 85 % zeros: 8192 x 8192 with 16 columns and 11,008 x 4096 with 1, 4, 8 and 16 on an H200. 8192 x 8192 with 8
/// columns, and 90 % zeros, are slower than in panels of 16 rows.
bool waits_for_quarter_steps(const LayerShape& shape, int panels) {
  constexpr long long few_columns = 8;
  constexpr long long some_columns = 16;
  constexpr int panels_of_many_warps = 3;
  constexpr double sparsest = 0.15;
  constexpr double densest = 0.25;
  const bool has_columns = shape.bcol == some_columns || (shape.bcol <= few_columns && panels == panels_of_many_warps);
  return has_columns && shape.density() >= sparsest && shape.density() <= densest;
}

}  // namespace

std::vector<ScheduleChoice> high_panel_streams(const LayerShape& shape, const KernelTarget& target) {
  const int panels = streams_past_cache(shape, target) ? high_panels(shape, target) : 0;
  if (panels == 0) {
    return {};
  }
  StreamSchedule schedule{.columns = widest_stream(shape.bcol),
                          .panels = panels,
                          .stages = 2,
                          .rows = StreamSchedule::max_rows,
                          .copies = StreamSchedule::Copies::bulk};
  const std::string rule =
      "by rule: layers larger than a cache are streamed by panels of 32 rows where rows of B bind; measured on ";
  if (waits_for_rows_of_b(shape, target)) {
    schedule.warps = 2;
    return with_leaner_if_spread(schedule, shape, target, rule + "one NVIDIA H200");
  }
  if (waits_for_quarter_steps(shape, panels)) {
    schedule.warps = 4;
    schedule.quarters = true;
    return with_leaner_if_spread(schedule, shape, target, rule + "one NVIDIA H100 and one H200");
  }
  return {};
}

}  // namespace esc
