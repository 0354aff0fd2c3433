// SPDX-License-Identifier: Apache-2.0
#include "generator/emit/window_lines.h"

#include "generator/ir/performed_instructions.h"
#include "generator/schedule/stream_schedule.h"

namespace esc {

std::int64_t line_rows_of(const LoopNest& lowered, std::int64_t rows_of_b, std::int64_t bcol) {
  return performs(lowered, "copy_windows") && is_half(lowered.element()) ? line_rows_of_boxes(lowered.constant("tile_columns"), rows_of_b, bcol) : 1;
}

bool has_lines(const LoopNest& lowered) { return lowered.packed.line_rows > 1; }

const char* boxed_variant(const LoopNest& lowered) { return has_lines(lowered) ? "tuned" : "vectors"; }

}  // namespace esc
