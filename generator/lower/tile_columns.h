// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

/// tile(j, columns=W, vector=V): the blocks of a second dimension of the grid take W columns of C each; a lane owns V
/// consecutive ones, so that W / V lanes, a group, cover them.
///
///   grid (block..) lanes (place..) { i = ..; for (j) for (k : columns(..)) for (u..) if (i + u < M) C[i + u][j] += ..;
/// }
///     -> grid (block..) grid (tile < tiles) lanes (place..) lanes (lane < group_lanes) {
///          i = ..; j = tile * tile_columns + lane * vector_width;
///          for (k : columns(..)) for (u..) for (v = 0; v < vector_width; v++)
///            if (i + u < M && j + v < N) C[i + u][j + v] += A[i + u][k] * B[k][j + v]; }
///
/// The bounds let N be no multiple of W. Is after the rows are mapped: lanes lie inside the row tiles or the tasks of
/// a warp.
/// V is 1, 2 or 4, what a lane moves at once; where rows of B do not have their columns one after the other each is
/// moved by itself, and V may be 8 or 16 too, so that the lanes take columns of A instead.
/// Refuses loops other than the column loop, widths outside 1 to 128, another V or one that does not divide W, more
/// sums of a lane than it has registers for, and more lanes than a warp has.
LoopNest tile_columns(const LoopNest& nest, const TileColumns& directive);

}  // namespace esc
