// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "generator/ir/instruction_form.h"

namespace esc {

/// The atoms of tiles: each moves or multiplies one tile as one instruction of the hardware does, and its text is that
/// instruction. Fragments are those of mma.m16n8k16 (PTX ISA, 9.7.14): register r of a lane holds elements [r][0] and
/// [r][1].
///
///   copy_tile_rows(B, Tile, ..)  the threads of a consumer_group copy rows of B to shared memory, with zeros behind
///   the last row
/// and column of B; and
///   copy_tile_columns            the same where the rows of a column of B are one after the other, or a layout says
/// where elements are
///   load_b(Tile, .., b)          a lane's fragments of 32 rows and 8 columns of the tile: ldmatrix
///   mma(sums, a, b)              adds the product of a 16 x 16 and a 16 x 8 tile: mma.sync
std::vector<Instruction> tile_instructions();

}  // namespace esc
