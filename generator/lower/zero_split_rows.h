// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/loop_nest.h"

namespace esc {

/// The nest that sets the rows of C that several tasks add to to zero, before they do:
///
///   grid (block..) threads (thread < 128) { index = ..; row = index < split_rows ? SplitRows[index] : 0;
///     if (index < split_rows) for (column = ..; column < N; column += row_threads) C[row][column] = 0; }
///
/// Some threads beside each other have a row. `nest` has the sparse array in tasks.
LoopNest zero_split_rows(const LoopNest& nest);

}  // namespace esc
