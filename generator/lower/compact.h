// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/loop_nest.h"

namespace esc {

/// compact(): one body per number of non-zero rows in place of one per pattern (paper, 3.5): at most UFi bodies, not
/// 2^UFi - 1.
///
///   switch (pattern) { case 0b011: C[i][j] .. C[i + 1][j] ..; case 0b101: C[i][j] .. C[i + 2][j] ..; .. }
///     -> switch (popcount(pattern)) { case 2: row0 = lowest_bit(pattern); .. C[i + row0][j] .. C[i + row1][j] ..; .. }
///
/// Bodies with the same number of rows differ only in the rows of C that they add to; this is checked, not assumed. The
/// row offsets come from the pattern's bits at run time. Is last: after the data transformation the values of A are
/// addressed by rank, the same for all patterns of a size, and every earlier step shows the pattern's own rows.
/// Refuses a nest whose data is not transformed, or that is compacted already.
LoopNest compact(const LoopNest& nest);

}  // namespace esc
