// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "generator/ir/loop_nest.h"

namespace esc {

/// Rows of B in a line of a box, as line_rows_of_boxes says for a call with bCol columns: the tuned one copies such boxes, others have no boxes then. 1 where boxes have rows, and where there are none.
std::int64_t line_rows_of(const LoopNest& lowered, std::int64_t rows_of_b, std::int64_t bcol);

/// Whether boxes have lines.
bool has_lines(const LoopNest& lowered);

/// The variants of a kernel that have boxes, as the kernel and its launcher name them: `tuned` or `vectors`.
const char* boxed_variant(const LoopNest& lowered);

}  // namespace esc
