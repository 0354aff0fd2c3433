#pragma once

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

/// map(j, grid, columns=W, vector=V): the blocks of a second dimension of the grid take W columns of C each; a lane
/// owns V consecutive ones, so that W / V lanes, a group, cover them and load each row of B in whole vectors.
///
///   grid (block..) lanes (panel < 2) { i = ..; for (j) for (k : columns(..)) if (i < M) C[i][j] += ..; }
///     -> grid (block..) grid (tile < tiles) lanes (panel < 2) lanes (lane < W / V) { i = ..; j = W * tile + V * lane;
///          for (k : columns(..)) { if (i < M && j < N) C[i][j] += A[i][k] * B[k][j];
///                                  if (i < M && j + 1 < N) C[i][j + 1] += A[i][k] * B[k][j + 1]; } }
///
/// The bounds let N be no multiple of W. Where there are tasks in place of panels, the loop over the columns of A is one over
/// the non-zeros of a task, and both grids are changed so. Stands after the rows are mapped: lanes lie inside the panels or
/// the tasks of a warp.
/// Refuses loops other than the column loop, widths outside 1 to 128, a V outside 1 to 4 or that does not divide W, and
/// more lanes than a warp has.
LoopNest map_tiles(const LoopNest& nest, const MapTiles& directive);

}  // namespace esc
