// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/ir/loop_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

/// Takes the elements of a K tile of 256 columns as tiles of the sparse tensor core, of which two of each four columns
/// are stored, and which two (packed_tiles.h has what is around that):
///
///   MULTIPLY_BLOCK  for (group < 2) load_sparse_a(Values, .., a[group]);
///                   for (n8_tile) for (group < 2) {
///                     load_b(B, .., b);
///                     mma_sp(pair_sums[block_of_pair][..], a[group], b, bits[block_of_pair], group);
///                   }
///   COMPLETE_SUMS   sums[..] += pair_sums[..][..];
///
/// After fragment(). Throws ScheduleError where elements have not 16 bits.
LoopNest pack_sparse24(const LoopNest& nest, const PackSparse24& directive);

}  // namespace esc
