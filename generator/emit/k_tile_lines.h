// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

/// The lowered nest of a kernel that is made for bCol columns, with the rows of B that lines of its boxes have
/// (line_rows_of_boxes): the tuned call copies such boxes, others have no boxes then. They are 1 where boxes have rows,
/// and where there are none. Where a block computes 8 columns, `copy(bulk)` copies K tiles with lines as well.
LoopNest with_lines(const LoopNest& lowered, std::span<const Directive> directives, std::int64_t rows_of_b,
                    std::int64_t bcol);

/// Whether boxes have lines.
bool has_lines(const LoopNest& lowered);

/// The variants of a kernel that have boxes, as the kernel and its launcher name them: `tuned` or `vectors`.
const char* boxed_variant(const LoopNest& lowered);

}  // namespace esc
