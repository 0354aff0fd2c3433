// SPDX-License-Identifier: Apache-2.0
#pragma once

// The packed format of gathered rows: what is stored where. As in packed_bytes.h, the text between the markers is part
// of the generated transformers of kernels that read it.

#include "transformer/description.h"

namespace esc::transformer {
// [packing text begins]

// ---------------------------------------------------------------------------------------------------------------------
// The packed format of gathered rows: lists for kernels that have rows of B in shared memory, four K tiles of them.
//
// A K tile is 256 columns of A, the last one may have fewer. `height` rows of A are a row tile, of which a warp has
// one, and a thread block owns block_row_tiles row tiles, the last one may own fewer. Rows are in the order of their
// lengths: of
// 1024 classes of lengths that divide evenly what is between the longest row and the shortest one the longest comes
// first, and in a class rows ascend. `height` of them, one after the other, are a row tile; row tiles are dealt to the
// blocks forth and back, so that blocks have about equally much to do.
//
// All rows of a row tile have equally many entries for a K tile, two for each of its steps: non-zeros of the row in the
// K tile, in the one before or in the one after, in the order of their columns. When the entries of a K tile end,
// nothing is left of the K tile before. There are as many as the row that has most left takes of it if it takes equally
// many for each K tile to come, so that there is little to fill up: what a row lacks are zeros, which name the row of B
// that the entry before them names, or the K tile's first one.
//
// A list belongs to a block and a K tile, and has what all its row tiles have for it. Lists are as long as what they
// have; their bytes count in pieces of 16, an entry of a row in a step.
//
//   rows      at header_bytes, [block][row tile][row] uint32: which row is there, where none does the number of rows
//
//   begins    [block][K tile] uint32 and one more, at the next multiple of 16: the first piece of a list, of all lists
//
//   lists     [block][K tile], from the next multiple of 256 on:
//               begins [row tile] uint32 and one more: the first piece of a row tile's entries, of the list. Zeros up
//               to the next multiple of 16
//               entries [row tile][step][row][2] 8 bytes each: the value, and uint32 where the row of B is: of
//               K tiles whose numbers are equal modulo 4, 128 bytes for each column
//               a step of zeros, which is read ahead
//
// What lies between is zero.
// ---------------------------------------------------------------------------------------------------------------------

inline constexpr uint32_t gather_columns = 256;       ///< of a K tile
inline constexpr uint32_t gather_k_tiles = 4;         ///< that are in shared memory at once
inline constexpr uint32_t gather_row_bytes = 128;     ///< of a row of B in a K tile
inline constexpr uint32_t gather_set_rows = 4;        ///< of a row tile, whose entries a warp reads at once
inline constexpr uint32_t max_gather_rows = 32;       ///< of a row tile
inline constexpr uint32_t max_gather_row_tiles = 24;  ///< of a thread block
inline constexpr uint32_t step_entries = 2;           ///< of each row
inline constexpr uint32_t entry_bytes = 8;
inline constexpr uint32_t piece_bytes = step_entries * entry_bytes;
inline constexpr uint32_t max_gather_steps = 3 * gather_columns / step_entries;  ///< of a row tile for a K tile
inline constexpr uint64_t max_list_pieces =
    uint64_t{max_gather_row_tiles} * max_gather_steps * max_gather_rows + max_gather_rows + max_gather_row_tiles;
inline constexpr uint32_t length_classes = 1024;

/// How a matrix is cut into row tiles with lists.
struct GatherCut {
  uint32_t height = gather_set_rows;  ///< rows of a row tile
  uint32_t block_row_tiles = 1;       ///< row tiles of a thread block
  uint32_t steps = 1;                 ///< of a row tile for a K tile at most
  uint32_t list_pieces = 1;           ///< of a list at most

  static constexpr Rule elements = single_elements;

  template <typename Visit>
  constexpr void visit_cut(const Visit& visit) {
    visit("height", height, multiple_of(gather_set_rows, max_gather_rows));
    visit("block_row_tiles", block_row_tiles, between(1, max_gather_row_tiles));
    visit("steps", steps, between(1, max_gather_steps));
    visit("list_pieces", list_pieces, between(1, max_list_pieces));
  }
};

using GatherShape = Shape<GatherCut>;

constexpr uint64_t k_tiles_of(const GatherShape& shape) {
  return (static_cast<uint64_t>(shape.columns) + gather_columns - 1) / gather_columns;
}
constexpr uint64_t blocks_of(const GatherShape& shape) {
  return (static_cast<uint64_t>(shape.row_tiles()) + shape.block_row_tiles - 1) / shape.block_row_tiles;
}

/// How much there is in all blocks.
struct GatherCounts {
  uint64_t nonzeros = 0;
  uint64_t pieces = 0;  ///< of all lists

  template <typename Visit>
  constexpr void visit(const GatherShape&, const Visit& visit) {
    visit("nonzeros", nonzeros, between(0, max_count));
    visit("pieces", pieces, between(0, UINT32_MAX));
  }
};

/// The whole description of a packed matrix; packer, unpacker and kernel read sizes and places from it alone.
struct GatherFormat : Description<GatherCut, GatherCounts> {
  static constexpr char magic[9] = "ESCGATH\x1a";
  static constexpr uint32_t version = 2;

  uint64_t begins_at = 0;
  uint64_t lists_at = 0;
  uint64_t bytes = 0;  ///< of the whole, header included

  constexpr uint64_t blocks() const { return blocks_of(shape); }
  constexpr uint64_t k_tiles() const { return k_tiles_of(shape); }
  constexpr uint64_t tile_slots() const { return blocks() * shape.block_row_tiles * shape.height; }
  constexpr uint64_t row_at(uint64_t tile_slot) const { return header_bytes + tile_slot * size_of(ScalarType::u32); }
  /// The tile slot of the row of this number in the order of lengths.
  constexpr uint64_t tile_slot_of(uint64_t number) const {
    const uint64_t row_tile = number / shape.height, iteration = row_tile / blocks(), dealt = row_tile % blocks();
    const uint64_t block = iteration % 2 == 0 ? dealt : blocks() - 1 - dealt;
    return (block * shape.block_row_tiles + iteration) * shape.height + number % shape.height;
  }
  /// The first tile slot of a row tile of a block.
  constexpr uint64_t first_tile_slot(uint64_t block, uint32_t row_tile) const {
    return (block * shape.block_row_tiles + row_tile) * shape.height;
  }
  constexpr uint64_t lists() const { return blocks() * k_tiles(); }
  constexpr uint64_t begin_at(uint64_t block, uint64_t k_tile) const {
    return begins_at + (block * k_tiles() + k_tile) * size_of(ScalarType::u32);
  }
  constexpr uint64_t list_at(uint64_t begin) const { return lists_at + begin * piece_bytes; }
  /// In a list, where a row tile's entries begin is there.
  constexpr uint64_t row_tile_begin_at(uint32_t row_tile) const {
    return uint64_t{row_tile} * size_of(ScalarType::u32);
  }
  constexpr uint64_t begins_pieces() const {
    return round_up(row_tile_begin_at(shape.block_row_tiles + 1), piece_bytes) / piece_bytes;
  }
  /// What a list has besides the entries of its row tiles.
  constexpr uint64_t fixed_pieces() const { return begins_pieces() + shape.height; }
  /// In the entries of a row tile.
  constexpr uint64_t entry_at(uint64_t step, uint32_t row, uint32_t number) const {
    return (step * shape.height + row) * piece_bytes + number * entry_bytes;
  }
};

/// Where the row of B is that a column of a K tile is multiplied by.
constexpr uint32_t gathered_place(uint64_t k_tile, uint32_t column) {
  return (static_cast<uint32_t>(k_tile % gather_k_tiles) * gather_columns + column) * gather_row_bytes;
}

/// The format that a matrix of this shape and with these counts has.
constexpr GatherFormat describe(const GatherShape& shape, const GatherCounts& counts) {
  GatherFormat format;
  format.shape = shape;
  format.counts = counts;
  format.begins_at = round_up(format.row_at(format.tile_slots()), piece_bytes);
  format.lists_at = round_up(format.begin_at(format.blocks(), 0) + size_of(ScalarType::u32), section_alignment);
  format.bytes = format.list_at(counts.pieces);
  return format;
}

// [packing text ends]
}  // namespace esc::transformer
