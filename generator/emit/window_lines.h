// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

/// The directives of a kernel of 16 bits for a call with bCol columns: where a block computes 8 columns, lanes go on copying windows unless these come as lines, as the engine takes a time for each
/// row of a box, however short it is.
std::vector<Directive> with_boxes_that_pay(std::vector<Directive> directives, std::int64_t rows_of_b, std::int64_t bcol);

/// Rows of B in a line of a box, as line_rows_of_boxes says for a call with bCol columns: the tuned one copies such boxes, others have no boxes then. 1 where boxes have rows, and where there are none.
std::int64_t line_rows_of(const LoopNest& lowered, std::int64_t rows_of_b, std::int64_t bcol);

/// Whether boxes have lines.
bool has_lines(const LoopNest& lowered);

/// The variants of a kernel that have boxes, as the kernel and its launcher name them: `tuned` or `vectors`.
const char* boxed_variant(const LoopNest& lowered);

}  // namespace esc
