// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/loop_nest.h"

namespace esc {

/// The nest that writes A as it was, zeros too, from its packed tiles. Blocks, warps and copies of packed tiles are
/// those of the product, whose constants and shared memory it has; in place of the products a warp stores what it has
/// found:
///
///   grid (block..) warps (part, place..) lanes (..) {
///     find_packed_tile(..); make_packed_tile_barriers(..);
///     for (s < early_packed_tiles) copy_bitmap_packed_tile(.., s, ..);
///     for (iteration < iterations) {
///       copy_bitmap_packed_tile(iteration + early_packed_tiles);
///       if (..) {
///         wait_for_packed_tile(..); find_words(..);
///         for (half < 2) {
///           load_bits(..);
///           for (block_of_pair < 2) {
///             find_places(..);
///             for (t < 4) { load_a(.., tile); store_a(A, .., tile); }
///           }
///         }
///       }
///     }
///   }
///
/// Where two of four elements are stored, nothing has to be found, and for the two groups of 32 columns of a K block
/// there is { load_sparse_a(.., tile); store_sparse_a(A, .., tile); }.
///
/// `nest` has its tiles copied by pipeline(k, stages=D, stages_a=U).
LoopNest unpack_tiles(const LoopNest& nest);

/// The other way round: the nest that writes the values of A into its packed tiles, whose pattern stays. A warp has the
/// same packed tiles, and finds their words likewise; in place of load_a and store_a there is
///
///   store_words(A, .., Values, ..);    or store_sparse_words(A, .., Values, ..);
///
/// and the packed tile's place in the packed matrix is asked for once more, as copies are of later ones.
LoopNest repack_tiles(const LoopNest& nest);

}  // namespace esc
