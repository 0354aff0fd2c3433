// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

/// Gives the lanes of a warp the elements of C whose sums the tensor core leaves with them, and keeps these sums in
/// registers. Of each
/// 16 x 8 elements lane 4 g + c has columns 2 c and 2 c + 1 of rows g and g + 8. The warps of a row tile add theirs up
/// in shared memory:
///
///   for (k_tile ...) for (slot) for (u < 16)       registers sums = 0;
///     for (j < N) C[i][j] += ...;            ->    for (k_tile ...) for (slot) for (e) for (v < 2)
///                                                    if (row < M && at < N) sums[2 * e + v] += A[row][k] * B[k][at];
///                                                  barrier;  // the operands have been read, whose places sums may
/// take
///                                                  if (0 < part) partial_sums[part - 1][...] = sums; barrier;
///                                                  if (part < 1) { sums += partial_sums...; C[row][at] = sums... }
///
/// With fragment(j, 128, warp_n=16) each of the warps that multiply the same K tiles has 16 columns of C in the rows of
/// all row tiles of the block, and lane 4 g + c columns 2 g and 2 g + 1 of rows 2 c and 2 c + 1 of every 8: so the
/// transposed product is left by a tensor core that multiplies for four warps at once.
///
/// After mainloop(), before transform(A, sparse24). Throws ScheduleError where the nest is not streamed, and for
/// columns other than 8, 16, 32, 64, 128 and 256.
LoopNest fragment_columns(const LoopNest& nest, const FragmentColumns& directive);

}  // namespace esc
