// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

/// Takes the elements of a window, a K tile of 256 columns, as tiles of the dense tensor core whose fragments of A are found by their bits:
///
///   for (window = part; window < windows; window += 2)    for (turn < turns)
///     for (slot < 256)                                      window = turn * 2 + part;
///       for (e) for (v) sums[..] += A[row][k] * B[k][j]; ->  if (window < windows && panel < panels)
///                                                              find_words(..., word_at);
///                                                              for (half < 2) {            // 128 columns, two K blocks of 64
///                                                                find_places(even, 1, places, word_at[0]);
///                                                                for (first < 16; first += 4) load_a(..., places, ..., a[..]);
///                                                                for (eighth) for (group) { load_b(B, ..., b); mma(sums[..], a[..], b[..]); ... }
///                                                                ...                       // the odd block, into sums of its own
///
/// Products of even and odd K blocks are added to sums of their own, which are added in the end, so that half as many wait for each other. Behind
/// fragment(). Of warpgroups four warps multiply at once (wgmma), a tile of 16 columns of A and all columns of C at a time. Throws ScheduleError where elements have
/// not 16 bits.
LoopNest pack_bitmap(const LoopNest& nest, const PackBitmap& directive);

/// The window that a warp takes in a turn.
Expression window_of(const Expression& turn);

/// Whether there is a window of this number. Where all turns of a block are whole nobody has to look.
Expression is_window(const Expression& number);

/// Whether it has made products of four warps at once.
bool has_warpgroups(const LoopNest& nest);

}  // namespace esc
