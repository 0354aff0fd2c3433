// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/quartered_streams.h"

#include <algorithm>
#include <bit>
#include <variant>

#include "generator/schedule/element_types.h"
#include "generator/schedule/even_panels.h"
#include "generator/schedule/streamed_size.h"

namespace esc {
namespace {

/// Whether lanes copy windows of B faster than the engine does, which takes about three cycles for a row of a box, be
/// it 16 columns or 32: where there are many rows, that takes longer than all else. It was so where few panels share a
/// window and 16 columns have 16 warps to copy them, and was not with three panels or seven, with 32 columns with four,
/// and where boxes have lines of several rows.
bool is_faster_by_lanes(int panels, int columns, const LayerShape& shape) {
  constexpr std::int64_t many_rows = 384;  // for each column
  return (panels == 2 || (panels == 4 && columns == 16)) && shape.columns >= many_rows * columns &&
         line_rows_of_boxes(columns, shape.columns, shape.bcol) == 1;
}

/// What was the fastest with so many panels, or within 9 % of that: as many warps as a block has room for, in a number
/// that the windows of a layer are dealt to evenly.
StreamSchedule fastest_with_quarters(int panels, int columns, const LayerShape& shape) {
  constexpr unsigned int most_warps = 16;         // of a block
  constexpr unsigned int most_of_wide_ones = 12;  // where the stages of windows take much of the shared memory
  constexpr unsigned int most_of_panel = 4;       // and what they share is worth more than further turns at once
  const auto at_most = (columns < 32 ? most_warps : most_of_wide_ones) / static_cast<unsigned int>(panels);
  const bool is_narrow = columns < StreamSchedule::least_columns_of_boxes;
  const bool by_lanes = !is_narrow && is_faster_by_lanes(panels, columns, shape);
  const unsigned int warps = std::bit_floor(is_narrow || by_lanes ? at_most : std::min(at_most, most_of_panel));
  return {.columns = columns,
          .panels = panels,
          .warps = std::max(2, static_cast<int>(warps)),
          .stages = 2,
          .copies = by_lanes ? StreamSchedule::Copies::units : StreamSchedule::Copies::bulk,
          .quarters = true};
}

}  // namespace

std::vector<ScheduleChoice> quartered_streams(const LayerShape& shape, const KernelTarget& target) {
  // With fewer non-zeros kernels that skip zeros read fewer bytes, which pays the sooner the fewer columns share what
  // is read.
  const double sparsest = shape.bcol <= 2 ? 1.0 / 7 : 1.0 / 11;
  const bool measured = streams_past_cache(shape, target) && shape.bcol <= 32 && shape.density() >= sparsest;
  if (!measured || !pays_in_quarters(shape)) {
    return {};
  }
  const int columns = stream_columns(shape);
  const StreamSchedule schedule =
      fastest_with_quarters(even_panels(streamed_size(shape), columns, target), columns, shape);
  return with_leaner_if_spread(
      schedule, shape, target,
      "by rule: layers larger than a cache are streamed with quarter steps; measured on one NVIDIA H200");
}

std::vector<ScheduleChoice> with_quarter_steps(std::vector<ScheduleChoice> choices, const LayerShape& shape) {
  if (!pays_in_quarters(shape)) {
    return choices;
  }
  for (ScheduleChoice& choice : choices) {
    if (auto* const stream = std::get_if<StreamSchedule>(&choice.schedule);
        stream != nullptr && !stream->quarters && stream->rows == StreamSchedule::strip_rows) {
      stream->quarters = true;
      mark_changed(choice, "; with quarter steps by rule, as the layer is larger than a cache");
    }
  }
  return choices;
}

}  // namespace esc
