// SPDX-License-Identifier: Apache-2.0
#pragma once

// The packed format of matrices with the 2:4 pattern: what is stored where. As in packed_bytes.h, the text between the
// markers is part of the generated transformers of kernels that read it.

#include "transformer/packed_tile_sizes.h"

namespace esc::transformer {
// [packing text begins]

// ---------------------------------------------------------------------------------------------------------------------
// The packed format of matrices with the 2:4 pattern: at most two of four neighbours in a row are non-zeros, where the
// first of the four is in a column that is a multiple of 4. A group is such four. Two elements of each group are
// stored, and which ones they are, as mma.sp.m16n8k32 with ordered metadata takes them.
//
// A row tile is 16 rows of A and a K tile 256 columns; the last ones may have fewer, and what they lack is zero. A
// packed tile belongs to a row tile and a K tile, and a K block is 64 of its columns: two halves of 32, an instruction
// each. All packed tiles have 4608 bytes, so that nothing says where they begin.
//
// The code of a group is first + 4 * second: which two of its columns are stored, first < second. Where it has fewer
// than two non-zeros, the last columns that are not non-zeros fill up: a group without non-zeros stores 2 and 3, one
// with a non-zero in column p < 3 stores p and 3, one with a non-zero in column 3 stores 2 and 3. What fills up is
// stored as +0.
//
// Bytes of a packed tile:
//   metadata   [K block / 2][lane][K block % 2] uint32. Of lane l = 4 * g + 2 * h + q they have, of half h, the codes
//              of row g in bits 0 to 15 and of row g + 8 in bits 16 to 31; of those, bits 4 * i to 4 * i + 3 are the
//              code of group 4 * q + i of the half
//   values     [K block][half][lane][register] uint32. Register r of lane l is in row l / 4 + 8 * (r % 2) and has the
//              elements of group l % 4 + 4 * (r / 2) of the half, the first one in bits 0 to 15
//
//   packed tiles     [row tile][K tile], from header_bytes on, one after the other
//
// Nothing but the header says of which pattern a packed matrix is: a kernel reads any matrix of its shape.
// ---------------------------------------------------------------------------------------------------------------------

inline constexpr uint32_t sparse24_group = 4;   ///< columns of a group
inline constexpr uint32_t sparse24_stored = 2;  ///< of them
inline constexpr uint32_t sparse24_half_columns = 32;
inline constexpr uint32_t sparse24_halves = packed_block_columns / sparse24_half_columns;  ///< of a K block
inline constexpr uint32_t sparse24_registers = 4;  ///< with values, of a lane in a half
inline constexpr uint32_t sparse24_code_bits = 4;
inline constexpr uint32_t sparse24_row_codes = 4;  ///< of one row in a word of metadata
inline constexpr uint32_t sparse24_codes_columns = sparse24_row_codes * sparse24_group;

/// How a matrix is cut into packed tiles.
struct Sparse24Cut {
  uint32_t height = packed_tile_rows;  ///< rows of a row tile

  static constexpr Rule elements = half_elements;

  template <typename Visit>
  constexpr void visit_cut(const Visit& visit) {
    visit("height", height, between(packed_tile_rows, packed_tile_rows));
  }
};

using Sparse24Shape = Shape<Sparse24Cut>;

/// How much there is in all packed tiles, and which matrix that is of.
struct Sparse24Counts {
  uint64_t nonzeros = 0;
  uint64_t pattern = 0;  ///< digest of where the non-zeros are

  template <typename Visit>
  constexpr void visit(const Sparse24Shape&, const Visit& visit) {
    visit("nonzeros", nonzeros, between(0, max_count));
    visit("pattern", pattern, between(0, INT64_MAX));
  }
};

/// The whole description of a packed matrix; packer, unpacker and kernel read sizes and places from it alone.
struct Sparse24Format : Description<Sparse24Cut, Sparse24Counts> {
  static constexpr char magic[9] = "ESCSP24\x1a";
  static constexpr uint32_t version = 1;
  static constexpr bool takes_any_pattern = true;

  static constexpr uint64_t metadata_bytes = uint64_t{packed_tile_blocks} * packed_tile_lanes * packed_word_bytes;
  static constexpr uint64_t half_bytes = uint64_t{packed_tile_lanes} * sparse24_registers * packed_word_bytes;
  static constexpr uint64_t packed_tile_bytes = metadata_bytes + packed_tile_blocks * sparse24_halves * half_bytes;
  static constexpr uint64_t packed_tiles_at = header_bytes;

  uint64_t bytes = 0;  ///< of the whole, header included

  constexpr uint64_t row_tiles() const { return static_cast<uint64_t>(shape.row_tiles()); }
  constexpr uint64_t tiles() const {
    return (static_cast<uint64_t>(shape.columns) + packed_tile_columns - 1) / packed_tile_columns;
  }
  constexpr uint64_t packed_tiles() const { return row_tiles() * tiles(); }
  /// Packed tile row_tile * tiles() + tile.
  constexpr uint64_t packed_tile_at(uint64_t number) const { return packed_tiles_at + number * packed_tile_bytes; }

  // Places in a packed tile.
  constexpr uint64_t metadata_at(uint32_t block, uint32_t lane) const {
    return ((uint64_t{block} / 2 * packed_tile_lanes + lane) * 2 + block % 2) * packed_word_bytes;
  }
  /// The 16 bits of metadata with the codes of a row for these 16 columns of a K block, the first one's number divided
  /// by 16.
  constexpr uint64_t codes_at(uint32_t block, uint32_t row, uint32_t sixteen) const {
    return metadata_at(block, row % 8 * 4 + sixteen) + row / 8 * size_of(ScalarType::u16);
  }
  constexpr uint64_t register_at(uint32_t block, uint32_t half, uint32_t lane, uint32_t number) const {
    return metadata_bytes + (uint64_t{block} * sparse24_halves + half) * half_bytes +
           (uint64_t{lane} * sparse24_registers + number) * packed_word_bytes;
  }
  /// The group of which a register has elements.
  constexpr RegisterPlace group_of(uint32_t half, uint32_t lane, uint32_t number) const {
    return {lane / 4 + number % 2 * 8, half * sparse24_half_columns + (lane % 4 + number / 2 * 4) * sparse24_group};
  }
};
static_assert(Sparse24Format::packed_tiles_at % section_alignment == 0 &&
                  Sparse24Format::packed_tile_bytes % section_alignment == 0,
              "packed tiles are aligned as sections are");

/// The format that a matrix of this shape and with these counts has.
constexpr Sparse24Format describe(const Sparse24Shape& shape, const Sparse24Counts& counts) {
  Sparse24Format format;
  format.shape = shape;
  format.counts = counts;
  format.bytes = format.packed_tile_at(format.packed_tiles());
  return format;
}

/// A group of a matrix, and how many non-zeros it has.
struct Sparse24Group {
  int64_t row = 0;
  int64_t first_column = 0;
  uint32_t nonzeros = 0;
};

// [packing text ends]
}  // namespace esc::transformer
