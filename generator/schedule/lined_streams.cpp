// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/lined_streams.h"

#include <algorithm>
#include <cstdint>

#include "generator/schedule/element_types.h"
#include "generator/schedule/stream_schedule.h"
#include "generator/schedule/streamed_size.h"

namespace esc {
namespace {

/// 768 x 3072 to 8192 x 2048 and 4096 x 4096 at 50 to 90 % zeros. On smaller layers the first bytes of bulk copies come
/// later than those of lanes; with fewer non-zeros kernels that skip zeros have less to do, on the smaller of these
/// layers from 85 % zeros on.
bool was_measured(const LayerShape& shape) {
  constexpr double smallest = 1 << 21;
  constexpr double small = 1 << 22;
  constexpr std::int64_t fewest_rows = 768;
  const double sparsest = shape.elements() < small ? 0.15 : 0.08;
  return is_half_type(shape.dtype) && shape.layout == "kn" && shape.elements() >= smallest && !exceeds_cache(shape) &&
         shape.rows >= fewest_rows && shape.density() >= sparsest && !follows_power_law(shape);
}

/// Whether B has lines for blocks of all of its columns: 8, 16 or 32.
bool has_lines(const LayerShape& shape) {
  return shape.bcol == widest_stream(shape.bcol) && line_rows_of_boxes(shape.bcol, shape.columns, shape.bcol) > 1;
}

/// Whether two panels of a multiprocessor are faster as one of 32 rows, which reads a row of B once for two products:
/// 3072 x 3072 to 4096 x 4096 and 2560 x 10,240 at 60 to 80 % zeros with 16 and 32 columns. With fewer zeros bytes of A
/// bind, at 90 % and with 8 columns it is level.
bool waits_for_rows_of_b(const LayerShape& shape, const StreamSchedule& schedule) {
  constexpr long long least_columns = 16;
  constexpr int least_warps = 4;
  constexpr double sparsest = 0.15;
  constexpr double densest = 0.45;
  return schedule.panels == 2 && schedule.warps >= least_warps && shape.bcol >= least_columns &&
         shape.density() >= sparsest && shape.density() <= densest;
}

/// Eight warps of a block, four of a panel at most and its fewest at least; no more than take two turns.
int warps_of_panel(int panels, const LayerShape& shape) {
  constexpr int block_warps = 8;
  constexpr int most_warps = 4;
  return std::min(warps_of_two_turns(shape, most_warps),
                  std::clamp(block_warps / panels, fewest_warps(panels), most_warps));
}

}  // namespace

std::vector<ScheduleChoice> lined_streams(const LayerShape& shape, const KernelTarget& target) {
  if (!was_measured(shape) || !has_lines(shape) || target.oldest_architecture < StreamSchedule::bulk_architecture) {
    return {};
  }
  const int panels = panels_of_one_block(streamed_size(shape), target);
  StreamSchedule schedule{.columns = static_cast<int>(shape.bcol),
                          .panels = panels,
                          .warps = warps_of_panel(panels, shape),
                          .stages = 2,
                          .copies = StreamSchedule::Copies::bulk};
  if (waits_for_rows_of_b(shape, schedule)) {
    schedule.panels = 1;
    schedule.rows = StreamSchedule::max_rows;
  }
  return with_leaner(with_warps_that_fit(schedule, shape, target),
                     "by rule: layers that a cache holds are streamed by lines of B where it has as many columns as a "
                     "block; measured on one NVIDIA H100 and one H200");
}

}  // namespace esc
