// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

/// Takes the elements of a K tile of 256 columns as tiles of the dense tensor core whose fragments of A are found by
/// their bits (packed_tiles.h has what is around that):
///
///   FIND            find_words(.., word_at);
///   MULTIPLY_BLOCK  find_places(bits[block_of_pair], .., places, word_at[block_of_pair]);
///                   for (t < 4) load_a(.., places, .., a[t]);
///                   for (n8_tile) for (group < 2) {
///                     load_b(B, .., b);
///                     for (q < 2) mma(pair_sums[block_of_pair][..], a[..], b[q]);
///                   }
///   COMPLETE_SUMS   sums[..] += pair_sums[..][..];
///
/// Of warpgroups (`warps` = 4) four warps multiply at once, 16 columns of A and all columns of C at a time: wgmma in
/// place of load_b and mma, into `sums`. After fragment(). Throws ScheduleError where elements have not 16 bits.
LoopNest pack_bitmap(const LoopNest& nest, const PackBitmap& directive);

/// Which way the words of K block `block_of_pair` of a pair go: 1 from the top, -1 from the bottom.
Expression direction_of_words();

}  // namespace esc
