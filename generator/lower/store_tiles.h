// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

/// store(C): the warp stores each tile of 16 rows and 16 columns of C that the tensor core has left with its lanes as
/// one, so that these can exchange what they have and write several elements at once, whole sectors of memory:
///
///   for (e < row_vectors)                        whole = takes_tiles(C, ..);
///     i = ..; j = ..;                            if (0 < whole)
///     if (i < M) store_columns(C[i][j], ..);  ->   for (t < lane_products; t += 2)
///                                                    store_tile(C, row_tile * row_tile_height, .. + t * 8, .., sums[4
///                                                    * t]);
///                                                else
///                                                  for (e < row_vectors) ..
///
/// What an epilogue makes of the sums stays in a loop in front. Where C allows no such stores, for its place in memory
/// or because the tile is one of its last, lanes store pairs as before; and where a block has 8 columns, or neither
/// rows nor columns of C lie in one piece, as those of images, the nest stays as it is.
///
/// After epilogue(), before pdl(). Throws ScheduleError where lanes do not store the sums of row tiles of 16
/// rows, or elements do not have 16 bits.
LoopNest store_tiles(const LoopNest& nest, const StoreTiles& directive);

}  // namespace esc
