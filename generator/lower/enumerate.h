// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "generator/ir/loop_nest.h"

namespace esc {

/// Enumeration: the guards of one column become mutually exclusive enumerated blocks, one per pattern (paper, 3.2).
///
///   if (A[i][k] != 0) C[i][j] += A[i][k] * B[k][j]; if (i + 1 < M && A[i + 1][k] != 0) C[i + 1][j] += ..;
///     -> switch (pattern(A[i..i + 1][k])) { case 0b01: C[i][j] += ..; case 0b10: C[i + 1][j] += ..; case 0b11: both }
///
/// In a block no guard is left: its pattern says which rows are non-zero and inside the matrix. `patterns` lists the
/// patterns that the matrix has, ascending (all 2^UFi - 1 when absent); no block is made for others. Is after
/// unrolling, whose repeated statements it regroups, and before the mapping, which gives each block threads of its own.
/// Refuses a nest whose row loop holds anything but one guarded update per row of the row tile.
LoopNest enumerate(const LoopNest& nest, const std::optional<std::vector<Pattern>>& patterns);

}  // namespace esc
