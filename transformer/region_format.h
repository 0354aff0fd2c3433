// SPDX-License-Identifier: Apache-2.0
#pragma once

// The packed format of regions: what is stored where. As in packed_bytes.h, the text between the markers is part of the
// generated transformers of kernels that read it.

#include "transformer/description.h"

namespace esc::transformer {
// [packing text begins]

// ---------------------------------------------------------------------------------------------------------------------
// The packed format of regions.
//
// The columns of a row tile are those in which any of its rows is non-zero, ascending; a row that is zero there has an
// explicit zero. Four columns are a packet; what the last packet of a row tile lacks repeats its last column, with
// zeros for values.
//
// Row tiles of about the same length are a class, and all row tiles of a class are stored with the packets of its
// longest: the address of a row tile follows from its place and a few constants, without reading anything. The longest
// class is first, and in a class the row tiles in the order of their rows. A warp has a place for `warp_row_tiles` row
// tiles beside each other, a set; a class is whole sets, and places that are left over have no row tile: their bytes
// are zero. A thread block owns block_row_tiles / warp_row_tiles sets. Set s belongs to block s % blocks, so that each
// has long and short ones.
//
//   columns   at header_bytes, [packet][4], 16 or 32 bits wide: the packets of all places, one row tile after the other
//   values    at the next multiple of 128, [packet][4][height]
//   numbers   [place], 16 or 32 bits wide: which row tile is there, and the number of row tiles where there is none;
//   for
//             the places of whole blocks. Left out when there is one class, as the row tiles then are in their order
//
// Where the row tiles lack few columns they are stored with every column of the matrix, and no columns are written:
// packet q of a row tile has the columns 4 * q .. 4 * q + 3. What lies between the sections is zero.
// ---------------------------------------------------------------------------------------------------------------------

inline constexpr uint32_t values_alignment = 128;  ///< asynchronous copies want equal places modulo 128
inline constexpr uint32_t packet_columns = 4;
inline constexpr uint32_t max_region_classes = 8;

/// How a matrix is cut into regions.
struct RegionCut {
  uint32_t height = 1;           ///< rows of a row tile (the paper's UFi)
  uint32_t warp_row_tiles = 1;   ///< row tiles of a set
  uint32_t block_row_tiles = 1;  ///< row tiles of a thread block

  static constexpr Rule elements = any_elements;

  constexpr uint32_t block_sets() const { return block_row_tiles / warp_row_tiles; }
  template <typename Visit>
  constexpr void visit_cut(const Visit& visit) {
    visit("height", height, between(1, max_height));
    visit("warp_row_tiles", warp_row_tiles, power_of_two(32));
    visit("block_row_tiles", block_row_tiles, multiple_of(warp_row_tiles, 65536));
  }
};

using RegionShape = Shape<RegionCut>;

/// Packets that so many columns fill.
constexpr uint64_t packets_of(uint64_t columns) { return (columns + packet_columns - 1) / packet_columns; }

/// Row tiles that are stored with equally many packets.
struct RegionClass {
  uint32_t packets;  ///< of each row tile
  uint32_t row_tiles;
};

/// How much there is in all row tiles.
struct RegionCounts {
  uint64_t nonzeros = 0;
  uint64_t columns = 0;                          ///< of all row tiles together
  bool every_column = false;                     ///< whether row tiles are stored with every column of the matrix
  uint32_t class_count = 0;                      ///< 1 to max_region_classes
  RegionClass classes[max_region_classes] = {};  ///< packets descend

  template <typename Visit>
  constexpr void visit(const RegionShape& shape, const Visit& visit) {
    visit("nonzeros", nonzeros, between(0, max_count));
    visit("row_tile_columns", columns, between(0, nonzeros));
    visit("every_column", every_column, between(0, 1));
    visit("class_count", class_count, between(1, max_region_classes));
    uint64_t left = static_cast<uint64_t>(shape.row_tiles());
    for (uint32_t number = 0; number < class_count; ++number) {
      RegionClass& one = classes[number];
      visit("packets of a class", one.packets, between(0, packets_of(static_cast<uint64_t>(shape.columns))));
      const uint64_t most = max_count / (one.packets + uint64_t{1});
      visit("row tiles of a class", one.row_tiles,
            between(number + 1 == class_count ? left : 1, left < most ? left : most));
      left -= one.row_tiles;
    }
  }
};

/// The whole description of a packed matrix; packer, unpacker and kernel read sizes and places from it alone.
struct RegionFormat : Description<RegionCut, RegionCounts> {
  static constexpr char magic[9] = "ESCREGN\x1a";
  static constexpr uint32_t version = 3;

  ScalarType column = ScalarType::u16;
  ScalarType number = ScalarType::u16;
  uint64_t first_set[max_region_classes + 1] = {};     ///< of each class; after the last one, the sets there are
  uint64_t first_packet[max_region_classes + 1] = {};  ///< of each class; after the last one, the packets there are
  uint64_t values_at = 0;
  uint64_t numbers_at = 0;
  uint64_t bytes = 0;  ///< of the whole, header included

  constexpr uint64_t sets() const { return first_set[counts.class_count]; }
  constexpr uint64_t packets() const { return first_packet[counts.class_count]; }
  constexpr uint64_t blocks() const { return (sets() + shape.block_sets() - 1) / shape.block_sets(); }
  constexpr uint64_t block_places() const { return blocks() * shape.block_row_tiles; }
  /// The block that works on a place.
  constexpr uint64_t block_of(uint64_t place) const { return place / shape.warp_row_tiles % blocks(); }
  constexpr bool has_numbers() const { return counts.class_count > 1; }

  /// The class of row tiles with so many columns; class_count when none is long enough.
  constexpr uint32_t class_of_columns(uint64_t columns) const {
    uint32_t index = 0;
    while (index < counts.class_count && columns <= uint64_t{packet_columns} * counts.classes[index].packets) {
      ++index;
    }
    return index == 0 ? counts.class_count : index - 1;
  }
  /// The first place of a class, of which there is one past the last too.
  constexpr uint64_t first_place(uint32_t index) const { return first_set[index] * shape.warp_row_tiles; }
  /// The class that a place below first_place(class_count) belongs to.
  constexpr uint32_t class_of_place(uint64_t place) const {
    uint32_t index = 0;
    while (first_place(index + 1) <= place) {
      ++index;
    }
    return index;
  }
  /// The first packet of a place of a class.
  constexpr uint64_t packet_of(uint32_t index, uint64_t place) const {
    return first_packet[index] + (place - first_place(index)) * counts.classes[index].packets;
  }
  /// Where the columns and the values of a packet are, and the number at a place.
  constexpr uint64_t columns_of(uint64_t packet) const {
    return header_bytes + packet * packet_columns * size_of(column);
  }
  constexpr uint64_t values_of(uint64_t packet) const {
    return values_at + packet * packet_columns * shape.height * size_of(shape.element);
  }
  constexpr uint64_t number_of(uint64_t place) const { return numbers_at + place * size_of(number); }
};

/// The format that a matrix of this shape and with these counts has.
constexpr RegionFormat describe(const RegionShape& shape, const RegionCounts& counts) {
  RegionFormat format;
  format.shape = shape;
  format.counts = counts;
  format.column = shape.columns <= 65536 ? ScalarType::u16 : ScalarType::u32;
  format.number = shape.row_tiles() < 65536 ? ScalarType::u16 : ScalarType::u32;
  for (uint32_t number = 0; number < counts.class_count; ++number) {
    const RegionClass& one = counts.classes[number];
    const uint64_t places = round_up(one.row_tiles, shape.warp_row_tiles);
    format.first_set[number + 1] = format.first_set[number] + places / shape.warp_row_tiles;
    format.first_packet[number + 1] = format.first_packet[number] + places * one.packets;
  }
  const uint64_t columns_end = format.columns_of(counts.every_column ? 0 : format.packets());
  format.values_at = round_up(columns_end, values_alignment);
  format.numbers_at = format.values_of(format.packets());
  format.bytes = round_up(format.number_of(format.has_numbers() ? format.block_places() : 0), 8);
  return format;
}

// [packing text ends]
}  // namespace esc::transformer
