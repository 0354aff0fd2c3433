// SPDX-License-Identifier: Apache-2.0
#include "generator/emit/window_lines.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "generator/ir/performed_instructions.h"
#include "generator/schedule/stream_schedule.h"

namespace esc {

std::vector<Directive> with_boxes_that_pay(std::vector<Directive> directives, std::int64_t rows_of_b, std::int64_t bcol) {
  const auto is_of_short_rows = [&](const Directive& directive) {
    const auto* const tile = std::get_if<FragmentColumns>(&directive);
    return tile != nullptr && tile->columns < StreamSchedule::least_columns_of_boxes && line_rows_of_boxes(tile->columns, rows_of_b, bcol) == 1;
  };
  if (std::ranges::any_of(directives, is_of_short_rows)) {
    std::ranges::replace_if(directives, [](const Directive& directive) { return std::holds_alternative<CopyInBulk>(directive); }, Directive{CopyUnits{}});
  }
  return directives;
}

std::int64_t line_rows_of(const LoopNest& lowered, std::int64_t rows_of_b, std::int64_t bcol) {
  return performs(lowered, "copy_windows") && is_half(lowered.element()) ? line_rows_of_boxes(lowered.constant("tile_columns"), rows_of_b, bcol) : 1;
}

bool has_lines(const LoopNest& lowered) { return lowered.packed.line_rows > 1; }

const char* boxed_variant(const LoopNest& lowered) { return has_lines(lowered) ? "tuned" : "vectors"; }

}  // namespace esc
