// SPDX-License-Identifier: Apache-2.0
#pragma once

// The packed format of bitmaps: what is stored where. As in packed_bytes.h, the text between the markers is part of the
// generated transformers of kernels that read it.

#include "transformer/packed_tile_sizes.h"

namespace esc::transformer {
// [packing text begins]

// ---------------------------------------------------------------------------------------------------------------------
// The packed format of bitmaps: a bit for each element of A, and words of 32 bits, each of which is what one register
// of a dense tensor core instruction needs. Nothing is searched for, so that it suits any pattern.
//
// A row tile is 16 rows of A and a K tile 256 columns; the last ones may have fewer, and what they lack is zero. A
// packed tile belongs to a row tile and a K tile, and a K block is 64 of its columns. A word holds word_values
// elements: 4 bytes. Of each K block a lane of 32 has 32 elements, in 32 / word_values registers of as many neighbours
// in a row: those of operand A of mma.m16n8k16, and of wgmma.m64k16, of which a warp has an m16 tile of 16 rows.
// Register p of lane
// 4 * g + t is in row g + 8 * (p % 2), and its first column is word_values * (p / 4 * 8 + p % 4 / 2 * 4 + t).
//
// The 32 bits of a lane in a K block say what its registers hold. Those of register p begin at bit
// 4 * (p % 8) + word_values * (p / 8). Two values have a code: 0 none is a non-zero, 1 the first is, 3 the second is,
// 2 both are. So the lower bit says that a register has one non-zero, and counts of either kind are a mask away.
// The words of a lane in a K block are first the registers with two non-zeros, in order, a word each whose lower half
// is the first; then the values of registers with one, in order, two to a word, the lower half first. A half that is
// left is zero.
//
// The words of a packed tile are in 32 columns, each of which is a bank of shared memory. Those of lane l in the K
// blocks 0 and 2 are in column l, one after the other from row 0 on; those in the K blocks 1 and 3 are in the odd
// column of the lane, one before the other from the last row on. Odd columns are a permutation of the lanes that brings
// long and short ones together: the lane with the most words in even K blocks meets the one with the fewest in odd
// ones, and so on; of lanes with equally many the lower one comes first. There are as many rows as the longest column
// has words, and one more where it has none of odd K blocks: so there is a word after those of even ones, which
// registers without a non-zero read.
//
// Bytes of a packed tile:
//   bits         [K block / 2][lane][K block % 2] uint32
//   odd columns  [lane] 1 byte: the column in bits 0 to 4; in bit 5, of lanes 0 to 7, that bit of the number of rows
//   words        [row][column] uint32; what is not used is 0
//
//   begins    at header_bytes, [row tile][K tile] uint32 and one more: where a packed tile begins, in pieces of 32
//   bytes from the
//             first one
//
//   packed tiles     [row tile][K tile], from the next multiple of 256 on, one after the other
//
// What lies between is zero. Nothing but the header says of which pattern a packed matrix is: a kernel that has room
// for the largest packed tile reads any matrix of its shape.
// ---------------------------------------------------------------------------------------------------------------------

inline constexpr uint32_t bitmap_piece_bytes = 32;  ///< in which packed tiles are counted: what memory gives at once
inline constexpr uint64_t max_bitmap_pieces = UINT32_MAX;
inline constexpr uint32_t bitmap_count_bits = 8;                       ///< of the number of rows of words, one a lane
inline constexpr uint32_t bitmap_column_mask = packed_tile_lanes - 1;  ///< the odd column in its byte
inline constexpr uint32_t bitmap_count_bit = 5;                        ///< of that byte

/// How elements of so many bytes share a word.
struct BitmapElement {
  uint32_t bytes;

  constexpr uint32_t word_values() const { return packed_word_bytes / bytes; }
  constexpr uint32_t block_registers() const { return packed_tile_lanes / word_values(); }  ///< of a lane
  constexpr RegisterPlace place_of(uint32_t lane, uint32_t number) const {
    return {lane / 4 + number % 2 * 8, word_values() * (number / 4 * 8 + number % 4 / 2 * 4 + lane % 4)};
  }
  /// The first of the bits of a register.
  constexpr uint32_t bit_of(uint32_t number) const { return number % 8 * 4 + number / 8 * word_values(); }
};

/// Registers of 16-bit values, each by the lower of its bits.
inline constexpr uint32_t lower_code_bits = 0x55555555u;
constexpr uint32_t registers_with_one(uint32_t bits) { return bits & lower_code_bits; }
constexpr uint32_t registers_with_two(uint32_t bits) { return bits >> 1 & ~bits & lower_code_bits; }
/// All bits of the registers before the one of this number.
constexpr uint32_t bits_in_front(uint32_t number) {
  return number < 8 ? 0x33333333u & ((1u << number * 4) - 1)
                    : 0x33333333u | (0xccccccccu & ((1u << (number - 8) * 4) - 1));
}

/// A lane has at most a word for each register, and two K blocks are at each end of a column.
inline constexpr uint32_t max_bitmap_words = packed_tile_blocks * BitmapElement{2}.block_registers();
static_assert(max_bitmap_words < 1u << bitmap_count_bits,
              "the number of rows of words has a bit of each of eight lanes");

/// How a matrix is cut into packed tiles.
struct BitmapCut {
  uint32_t height = packed_tile_rows;  ///< rows of a row tile
  uint32_t most_words = 0;             ///< rows of words of a packed tile, at most

  static constexpr Rule elements = half_elements;

  template <typename Visit>
  constexpr void visit_cut(const Visit& visit) {
    visit("height", height, between(packed_tile_rows, packed_tile_rows));
    visit("most_words", most_words, between(0, max_bitmap_words));
  }
};

using BitmapShape = Shape<BitmapCut>;

/// The shape for a kernel that has room for so many rows of words in a packed tile.
constexpr BitmapShape with_room(BitmapShape shape, uint32_t words) {
  shape.most_words = words;
  return shape;
}

/// How much there is in all packed tiles, and which matrix that is of.
struct BitmapCounts {
  uint64_t nonzeros = 0;
  uint64_t pieces = 0;   ///< of 32 bytes
  uint64_t pattern = 0;  ///< digest of where the non-zeros are

  template <typename Visit>
  constexpr void visit(const BitmapShape&, const Visit& visit) {
    visit("nonzeros", nonzeros, between(0, max_count));
    visit("pieces", pieces, between(0, max_bitmap_pieces));
    visit("pattern", pattern, between(0, INT64_MAX));
  }
};

/// The whole description of a packed matrix; packer, unpacker and kernel read sizes and places from it alone.
struct BitmapFormat : Description<BitmapCut, BitmapCounts> {
  static constexpr char magic[9] = "ESCBITM\x1a";
  static constexpr uint32_t version = 2;
  static constexpr bool takes_any_pattern = true;

  uint64_t packed_tiles_at = 0;
  uint64_t bytes = 0;  ///< of the whole, header included

  constexpr BitmapElement element() const { return {static_cast<uint32_t>(size_of(shape.element))}; }
  constexpr uint64_t row_tiles() const { return static_cast<uint64_t>(shape.row_tiles()); }
  constexpr uint64_t tiles() const {
    return (static_cast<uint64_t>(shape.columns) + packed_tile_columns - 1) / packed_tile_columns;
  }
  constexpr uint64_t packed_tiles() const { return row_tiles() * tiles(); }
  constexpr uint64_t begin_at(uint64_t row_tile, uint64_t tile) const {
    return header_bytes + (row_tile * tiles() + tile) * size_of(ScalarType::u32);
  }
  constexpr uint64_t packed_tile_at(uint64_t begin) const { return packed_tiles_at + begin * bitmap_piece_bytes; }

  // Places in a packed tile.
  constexpr uint64_t bits_at(uint32_t block, uint32_t lane) const {
    return ((uint64_t{block} / 2 * packed_tile_lanes + lane) * 2 + block % 2) * packed_word_bytes;
  }
  constexpr uint64_t odd_column_at(uint32_t lane) const { return bits_at(packed_tile_blocks, 0) + lane; }
  constexpr uint64_t words_at() const { return odd_column_at(packed_tile_lanes); }
  constexpr uint64_t word_at(uint32_t row, uint32_t column) const {
    return words_at() + (uint64_t{row} * packed_tile_lanes + column) * packed_word_bytes;
  }
  constexpr uint64_t packed_tile_bytes(uint32_t words) const { return word_at(words, 0); }
  constexpr uint64_t packed_tile_pieces(uint32_t words) const { return packed_tile_bytes(words) / bitmap_piece_bytes; }
};
static_assert(BitmapFormat().packed_tile_bytes(0) % bitmap_piece_bytes == 0 &&
                  BitmapFormat().packed_tile_bytes(1) % bitmap_piece_bytes == 0,
              "packed tiles begin at whole pieces");

/// The format that a matrix of this shape and with these counts has.
constexpr BitmapFormat describe(const BitmapShape& shape, const BitmapCounts& counts) {
  BitmapFormat format;
  format.shape = shape;
  format.counts = counts;
  format.packed_tiles_at =
      round_up(format.begin_at(format.row_tiles(), 0) + size_of(ScalarType::u32), section_alignment);
  format.bytes = format.packed_tile_at(counts.pieces);
  return format;
}

// [packing text ends]
}  // namespace esc::transformer
