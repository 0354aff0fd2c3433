// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "generator/ir/loop_nest.h"
#include "generator/lower/thread_nest.h"
#include "generator/schedule/directive.h"

namespace esc {

// What the encodings of packed tiles have in common. A packed tile is what A has in 16 rows and a K tile of 256
// columns; a warp takes one in each iteration, through its halves and their two K blocks of 64 columns:
//
//   for (iteration < iterations) {
//     k_tile = iteration * k_tiles_of_iteration + first_k_tile;
//     if (..) { FIND; for (half < 2) { load_bits(BITS, ..); for (block_of_pair < 2) MULTIPLY_BLOCK; } }
//   }
//   COMPLETE_SUMS

inline constexpr int pair_blocks = 2;   ///< K blocks of a half
inline constexpr int block_groups = 2;  ///< of 32 columns in a K block, whose fragments of B are loaded at once

/// The steps and arrays of an encoding.
struct PackedTileSteps {
  Block find;            ///< before the halves of a packed tile
  const char* bits;      ///< of which a lane loads a word for each K block of a half, before these
  Block multiply_block;  ///< fragments of a K block, and their products with all columns of C of a warp
  Node complete_sums;    ///< after all iterations
  std::vector<ArrayDeclaration> registers = {};
  std::vector<ArrayDeclaration> arrays = {};  ///< of the packed matrix
  bool has_warpgroups = false;
};

/// Throws ScheduleError where a warp does not have all columns of C in the 16 rows of a row tile, or elements have not
/// 16 bits.
void check_lanes(const LoopNest& nest, const ThreadNest& parts, const Directive& directive);

/// The nest with these steps in place of its loop over the K tiles of a warp.
LoopNest with_packed_tiles(const LoopNest& nest, ThreadNest parts, PackedTileSteps steps);

/// What the packed tile of a warp's row tile and K tile has in this array.
Access of_packed_tile(const char* array, std::vector<Affine> more = {});

/// An array that each packed tile has a part of.
ArrayDeclaration of_packed_tiles(const char* name, std::vector<Affine> extents, ArrayRole role, ScalarType type);

/// A register of each lane for two elements.
ArrayDeclaration register_pairs(const char* name, std::vector<Affine> extents, ScalarType type);

/// The products of a K block where each warp multiplies by itself: for each 8 columns of C the fragments of B of 32
/// rows at a time, and `multiply` with them. The blocks of a pair have sums of their own (`pair_sums`), so that half as
/// many products wait for each other; `add_pair_sums` adds them up.
Node multiply_by_n8_tiles(const Block& multiply);
Node add_pair_sums();
ArrayDeclaration pair_sums(const LoopNest& nest);

/// The first row of B of a pair of K blocks, and a block's first row after that.
Expression first_row_of_pair();
Expression row_of_block();

/// The K tile that a warp takes in an iteration.
Expression k_tile_of(const Expression& iteration);

/// Whether there is a K tile of this number. Where all iterations of a block are whole nobody has to look.
Expression is_k_tile(const Expression& number);

/// Whether products of four warps at once are made.
bool has_warpgroups(const LoopNest& nest);

/// Whether packed tiles are those of a bitmap.
bool is_bitmap(const LoopNest& nest);

}  // namespace esc
