// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "generator/ir/instruction_form.h"

namespace esc {

/// What kernels do with packed tiles of which two of each four elements are stored (transformer/sparse24_format.h), in
/// place of what they do with those of a bitmap:
///
///   place_packed_tile(.., packed_tile)              where a packed tile begins and ends: all have the same size
///   copy_sparse24_packed_tile(.., packed_tile, ..)  a warp copies it to shared memory
///   load_sparse_a(.., a)                            four registers, a lane's fragment of a 16 x 32 tile of A
///   mma_sp(.., a, b, metadata, group)               the product of the sparse tensor core
///   store_sparse_a, store_sparse_words              a tile, unpacked; and values at the places that are stored
std::vector<Instruction> sparse24_instructions();

}  // namespace esc
