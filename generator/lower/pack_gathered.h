// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

/// transform(A, gathered): the rows of a warp have lists of their own, of the columns of a K tile after the other.
///
///   for (c..) { k = columns(i, ..)[c]; for (u..) for (v..) sums[4 * u + v] += A[i + u][k] * B[k][j + v]; }
///     -> for (k_tile..) { steps = ListSteps[block][k_tile][set];
///          for (step < steps) for (u..) for (n < 2) { k = ListColumns[block][k_tile][set][step][4 * u + place][n];
///            for (v..) sums[4 * u + v] += ListValues[block][k_tile][set][step][4 * u + place][n] * B[k][j + v]; } }
///
/// A list names columns of its K tile and of those beside it. Rows of C are looked up, as rows of A are in the order
/// of their lengths; a lane stores four columns at once. Is after accumulate(), as K tiles are copied after it.
/// Refuses sums that are not in registers, row tiles that several warps or lane groups share, lanes that have not four
/// of
/// 32 columns, other elements than float32, and a B whose columns are not one after the other.
LoopNest pack_gathered(const LoopNest& nest, const PackGathered& directive);

}  // namespace esc
