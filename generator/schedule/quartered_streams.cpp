// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/quartered_streams.h"

#include <variant>

#include "generator/schedule/element_types.h"
#include "generator/schedule/quotient_up.h"

namespace esc {
namespace {

std::int64_t blocks_of(const LayerShape& shape, int panels) {
  return quotient_up(quotient_up(shape.rows, StreamSchedule::strip_rows), panels);
}

/// Panels of the multiprocessor that has most of them, where a block has so many.
std::int64_t busiest_panels(const LayerShape& shape, const KernelTarget& target, int panels) {
  return panels * quotient_up(blocks_of(shape, panels), target.multiprocessors);
}

/// Whether such blocks leave few multiprocessors without one.
bool fills(const LayerShape& shape, const KernelTarget& target, int panels) {
  return 4 * blocks_of(shape, panels) >= 3 * target.multiprocessors;
}

/// Four panels share the rows of B of a block, or three where that leaves clearly less to the busiest multiprocessor.
int panels_for(const LayerShape& shape, const KernelTarget& target) {
  constexpr double clearly = 0.9;
  const auto of_four = static_cast<double>(busiest_panels(shape, target, 4));
  return static_cast<double>(busiest_panels(shape, target, 3)) <= clearly * of_four ? 3 : 4;
}

}  // namespace

bool pays_in_quarters(const LayerShape& shape) {
  constexpr double cached_elements = 32.0 * 1024 * 1024;  ///< of 2 bytes, in 50 to 60 MiB of L2
  constexpr double densest = 0.38;                        ///< with more non-zeros all steps are half steps
  return is_half_type(shape.dtype) && shape.elements() >= cached_elements && shape.density() <= densest;
}

std::vector<ScheduleChoice> quartered_streams(const LayerShape& shape, const KernelTarget& target) {
  constexpr double sparsest = 1.0 / 11;  ///< beyond that kernels that skip zeros read fewer bytes
  const bool measured = shape.layout == "kn" && shape.bcol > 4 && shape.bcol <= 32 && shape.density() >= sparsest && !follows_power_law(shape);
  if (!measured || !pays_in_quarters(shape) || target.oldest_architecture < StreamSchedule::bulk_architecture) {
    return {};
  }
  StreamSchedule schedule{.columns = widest_stream(shape.bcol), .panels = panels_for(shape, target), .quarters = true};
  const bool is_narrow = schedule.columns < StreamSchedule::least_columns_of_boxes;
  if (!fills(shape, target, schedule.panels)) {
    return {};
  }
  schedule.warps = is_narrow && schedule.panels == 4 ? 3 : 2;
  schedule.stages = is_narrow && schedule.panels == 3 ? 4 : schedule.columns == 32 && schedule.panels == 4 ? 2 : 3;
  schedule.copies = is_narrow ? StreamSchedule::Copies::lanes : StreamSchedule::Copies::bulk;
  StreamSchedule leaner = schedule;
  leaner.warps = 2;
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
