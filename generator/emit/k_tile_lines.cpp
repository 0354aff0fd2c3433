// SPDX-License-Identifier: Apache-2.0
#include "generator/emit/k_tile_lines.h"

#include <algorithm>
#include <variant>

#include "generator/ir/performed_instructions.h"
#include "generator/lower/copy_in_bulk.h"
#include "generator/schedule/stream_schedule.h"

namespace esc {

LoopNest with_lines(const LoopNest& lowered, std::span<const Directive> directives, std::int64_t rows_of_b,
                    std::int64_t bcol) {
  const auto copies_all = [](const Directive& directive) { return std::holds_alternative<CopyInBulk>(directive); };
  if (!is_half(lowered.element()) || std::ranges::none_of(directives, copies_all)) {
    return lowered;
  }
  const std::int64_t line_rows = line_rows_of_boxes(lowered.constant("tile_columns"), rows_of_b, bcol);
  LoopNest result = line_rows > 1 ? copy_lines_in_bulk(lowered) : lowered;
  result.packed.line_rows = performs(result, "copy_k_tiles") ? line_rows : 1;
  return result;
}

bool has_lines(const LoopNest& lowered) { return lowered.packed.line_rows > 1; }

const char* boxed_variant(const LoopNest& lowered) { return has_lines(lowered) ? "tuned" : "vectors"; }

}  // namespace esc
