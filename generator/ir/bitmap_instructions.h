// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "generator/ir/instruction_form.h"

namespace esc {

/// What kernels do with the packed tiles of a bitmap (transformer/bitmap_format.h):
///
///   find_packed_tile(begins, .., packed_tile)              where a packed tile of the packed matrix begins and ends
///   copy_bitmap_packed_tile(.., packed_tile, ..)           a warp copies it to shared memory
///   wait_for_packed_tile(..)                  until it is there
///   find_words(.., word_at)            where a lane's words begin, of even K blocks and of odd ones
///   load_bits(..)                      a lane's bits of two K blocks
///   find_places(bits, .., places)      where the words of a K block's registers are, counted from the bits
///   load_a(.., places, .., a)          four registers, a lane's fragment of a 16 x 16 tile of A
std::vector<Instruction> bitmap_instructions();

}  // namespace esc
