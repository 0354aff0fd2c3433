// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "generator/ir/loop_nest.h"

namespace esc {

// How rows of a column of B are copied to shared memory, in the texts of instructions that take columns one by one.

/// As many as 16 bytes have, at once where they stand beside each other. Rows of B as it is usual do so where it has one column.
std::string copy_rows_text(const LoopNest& nest);

/// An element of one.
const char* element_of_column_text(const LoopNest& nest);

}  // namespace esc
