// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/quartered_streams.h"

#include <variant>

#include "generator/schedule/element_types.h"
#include "generator/schedule/even_panels.h"
#include "generator/schedule/streamed_size.h"

namespace esc {
namespace {

/// Whether the blocks leave few multiprocessors without one.
bool fills(const StreamSchedule& schedule, const LayerShape& shape, const KernelTarget& target) {
  return 4 * blocks_of(schedule, streamed_size(shape)) >= 3 * target.multiprocessors;
}

/// What was the fastest with so many panels: about twelve warps for few columns, and fewer where windows of B take more of the shared memory.
StreamSchedule fastest_with_quarters(int panels, int columns) {
  constexpr int block_warps = 12;
  const bool is_narrow = columns < StreamSchedule::least_columns_of_boxes;
  StreamSchedule schedule{.columns = columns, .panels = panels, .stages = 2, .quarters = true};
  schedule.warps = is_narrow ? (block_warps + panels / 2) / panels : panels == 2 ? 4 : 2;
  if (panels == 4 && columns < 32) {
    schedule.stages = 3;
  }
  schedule.copies = is_narrow ? StreamSchedule::Copies::lanes : StreamSchedule::Copies::bulk;
  return schedule;
}

}  // namespace

std::vector<ScheduleChoice> quartered_streams(const LayerShape& shape, const KernelTarget& target) {
  // With fewer non-zeros kernels that skip zeros read fewer bytes, which pays the sooner the fewer columns share what is read.
  const double sparsest = shape.bcol <= 2 ? 1.0 / 7 : 1.0 / 11;
  const bool measured = shape.layout == "kn" && shape.bcol <= 32 && shape.density() >= sparsest && !follows_power_law(shape);
  if (!measured || !pays_in_quarters(shape) || target.oldest_architecture < StreamSchedule::bulk_architecture) {
    return {};
  }
  const int columns = widest_stream(shape.bcol);
  const StreamSchedule schedule = fastest_with_quarters(even_panels(streamed_size(shape), columns, target), columns);
  if (!fills(schedule, shape, target)) {
    return {};
  }
  StreamSchedule leaner = schedule;
  leaner.warps = schedule.warps > 2 ? 2 : 1;
  leaner.stages = 2;
  const char* const source = "by rule: layers larger than a cache are streamed with quarter steps; measured on one NVIDIA H100";
  return {{schedule, source}, {leaner, source}};
}

std::vector<ScheduleChoice> with_quarter_steps(std::vector<ScheduleChoice> choices, const LayerShape& shape) {
  if (!pays_in_quarters(shape)) {
    return choices;
  }
  for (ScheduleChoice& choice : choices) {
    if (auto* const stream = std::get_if<StreamSchedule>(&choice.schedule); stream != nullptr && !stream->quarters) {
      stream->quarters = true;
      choice.source += "; with quarter steps by rule, as the layer is larger than a cache";
    }
  }
  return choices;
}

}  // namespace esc
