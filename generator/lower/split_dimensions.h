// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/loop_nest.h"

namespace esc {

/// Makes several dimensions of one in which several iterators count together:
///
///   for (g < 2) for (f < 4) .. Y[4*g + f][p] += W[4*g + f][c] * X[8*g + c][p]  with Y[8][6], W[8][8], X[16][6]
///     -> Y[g][f][p] += W[g][f][c] * X[g][c][p]                                 with Y[2][4][6], W[2][4][8], X[2][8][6]
///
/// Every element stays where it is. A dimension is split where all that index it count with the same digits, which fill
/// it and, but for groups, are of one role: p + r, where r runs to 1, is a place in an image. Is before the
/// roles, so that they have but one form to ask about.
LoopNest split_dimensions(const LoopNest& nest);

}  // namespace esc
