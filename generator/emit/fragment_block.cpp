// SPDX-License-Identifier: Apache-2.0
#include "generator/emit/fragment_block.h"

#include "generator/schedule/stream_schedule.h"

namespace esc {

namespace {

/// Panels that the packed format has of one of the kernel, each of 32 rows at most.
std::int64_t panel_units(const PackedForm& form) { return form.height / StreamSchedule::unit_rows(static_cast<int>(form.height)); }

}  // namespace

transformer::FragmentBlock fragment_block(const PackedForm& form) {
  return {.panels = static_cast<std::uint32_t>(form.block_panels * panel_units(form)),
          .height = static_cast<std::uint32_t>(form.height / panel_units(form)),
          .quarter_steps = form.quarter_steps,
          .dense_steps = form.dense_steps,
          .listed_values = form.listed_values,
          .placed_values = form.placed_values,
          .joined = static_cast<std::uint32_t>(form.placed_values ? panel_units(form) : 1),
          .shares = static_cast<std::uint32_t>(form.placing_warps)};
}

}  // namespace esc
