// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "generator/ir/evaluate.h"
#include "generator/ir/loop_nest.h"
#include "transformer/bitmap_format.h"
#include "transformer/sparse24_format.h"

namespace esc {

/// The sizes of the packed form by the names that nests have for them. `packed_tile_room` is what a packed tile has of
/// shared memory.
Environment packed_tile_sizes(const transformer::BitmapFormat& format);
Environment packed_tile_sizes(const transformer::Sparse24Format& format);

/// What a packed tile with so many rows of words takes of shared memory; and how many it may have where there is so
/// much.
std::int64_t room_for_words(std::uint32_t words);
std::uint32_t words_in_room(std::int64_t packed_tile_room);

/// The constants of the packed matrix, and of what a block has of both operands in shared memory.
std::vector<std::string> packed_tile_constants(const LoopNest& nest, const transformer::BitmapFormat& format);
std::vector<std::string> packed_tile_constants(const LoopNest& nest, const transformer::Sparse24Format& format);

/// What the instructions' texts are filled with.
std::map<std::string, std::string> bitmap_holes(const LoopNest& nest);

/// Whether tensor copies move tiles of B where B allows it.
bool copies_tile_boxes(const LoopNest& nest);

/// What one of them moves: lines of columns of B, each of so many rows, or of rows. Their pieces are exchanged within
/// a line.
struct BoxOfTile {
  bool of_columns;
  unsigned int rows;
  unsigned int columns;
  unsigned int line_bytes;
};
BoxOfTile box_of_tile(const LoopNest& nest);

/// Bytes of a block in shared memory before its packed tiles, and how many of these there are.
std::int64_t bytes_before_packed_tiles(const LoopNest& nest);
std::int64_t staged_packed_tiles(const LoopNest& nest);

}  // namespace esc
