// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

/// Takes the elements of a K tile of 256 columns as tiles of the dense tensor core whose fragments of A are
/// found by their bits. In place of the loop over the K tiles of a warp
///
///   for (k_tile = part; k_tile < k_tiles; k_tile += iteration_k_tiles)
///     for (slot < 256) for (e) for (v) sums[..] += A[row][k] * B[k][j];
///
/// comes one over iterations, through the halves of a K tile and their two K blocks of 64 columns:
///
///   for (iteration < iterations) {
///     k_tile = iteration * k_tiles_of_iteration + first_k_tile;
///     if (..) {
///       find_words(.., word_at);
///       for (half < 2) {
///         load_bits(.., half, .., bits);
///         for (block_of_pair < 2) {
///           find_places(bits[block_of_pair], .., places, word_at[block_of_pair]);
///           for (t < 4) load_a(.., places, .., a[t]);
///           for (n8_tile) for (group < 2) { load_b(B, .., b); mma(pair_sums[block_of_pair][..], a[..], b[..]); .. }
///         }
///       }
///     }
///   }
///   sums[..] += pair_sums[..][..];
///
/// The blocks of a pair have sums of their own, so that half as many products wait for each other. Of warpgroups
/// (`warps` = 4) four warps multiply at once, 16 columns of A and all columns of C at a time: wgmma in place of load_b
/// and mma, into `sums`. After fragment(). Throws ScheduleError where elements have not 16 bits.
LoopNest pack_bitmap(const LoopNest& nest, const PackBitmap& directive);

/// Which way the words of K block `block_of_pair` of a pair go: 1 from the top, -1 from the bottom.
Expression direction_of_words();

/// The K tile that a warp takes in an iteration.
Expression k_tile_of(const Expression& iteration);

/// Whether there is a K tile of this number. Where all iterations of a block are whole nobody has to look.
Expression is_k_tile(const Expression& number);

/// Whether it has made products of four warps at once.
bool has_warpgroups(const LoopNest& nest);

}  // namespace esc
