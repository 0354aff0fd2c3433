// SPDX-License-Identifier: Apache-2.0
#include "generator/emit/fragment_block.h"

#include "transformer/fragment_format.h"

namespace esc {

std::int64_t panel_units(const PackedForm& form) {
  constexpr std::int64_t most_rows = transformer::max_fragment_rows;
  return form.height / (form.height % most_rows == 0 ? most_rows : std::int64_t{transformer::strip_rows});
}

transformer::FragmentBlock fragment_block(const PackedForm& form) {
  return {.panels = static_cast<std::uint32_t>(form.block_panels * panel_units(form)),
          .height = static_cast<std::uint32_t>(form.height / panel_units(form)),
          .quarter_steps = form.quarter_steps,
          .dense_steps = form.dense_steps,
          .listed_values = form.listed_values,
          .placed_values = form.placed_values};
}

}  // namespace esc
