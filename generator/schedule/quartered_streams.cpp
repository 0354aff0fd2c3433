// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/quartered_streams.h"

#include "generator/schedule/element_types.h"

namespace esc {

bool pays_in_quarters(const LayerShape& shape) {
  constexpr double cached_elements = 32.0 * 1024 * 1024;  ///< of 2 bytes, in 50 to 60 MiB of L2
  constexpr double densest = 0.38;                        ///< with more non-zeros all steps are half steps
  return is_half_type(shape.dtype) && shape.elements() >= cached_elements && shape.density() <= densest;
}

std::vector<ScheduleChoice> with_quarter_steps(std::vector<ScheduleChoice> choices, const LayerShape& shape) {
  if (!pays_in_quarters(shape)) {
    return choices;
  }
  for (ScheduleChoice& choice : choices) {
    if (auto* const stream = std::get_if<StreamSchedule>(&choice.schedule); stream != nullptr && !stream->quarters) {
      stream->quarters = true;
      choice.source += "; quarter steps by rule: the layer is larger than a cache";
    }
  }
  return choices;
}

}  // namespace esc
