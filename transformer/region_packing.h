// SPDX-License-Identifier: Apache-2.0
#pragma once

// Packing into regions, one row tile at a time. As in packed_bytes.h, the text between the markers is part of the
// generated transformers of kernels that read regions.

#include "transformer/region_format.h"
#include "transformer/row_tile_sources.h"

namespace esc::transformer {
// [packing text begins]

// ---------------------------------------------------------------------------------------------------------------------
// Packing into regions. A row tile's number of columns says which class it is of; taken in the order of their rows, the
// row tiles get the next place of their class, so that nothing needs to be sorted and there is no list of them.
// ---------------------------------------------------------------------------------------------------------------------

/// How much one row tile has.
struct RowTileCounts {
  uint64_t nonzeros = 0;
  uint64_t columns = 0;
};

template <typename Source>
RowTileCounts count_row_tile(const Source& source, const RegionShape& shape, int64_t row_tile) {
  RowTileCounts counts;
  source.visit(shape.first_row(row_tile), shape.rows_in(row_tile), [&counts](int64_t, uint64_t mask, const auto&) {
    ++counts.columns;
    counts.nonzeros += popcount(mask);
  });
  return counts;
}

/// Gives row tiles their places, in the order of their rows.
struct RowTilePlaces {
  RegionCounts found = {};  ///< in the row tiles that have one

  /// The place of the next row tile; after all places when the format has none for it.
  constexpr uint64_t take(const RegionFormat& format, const RowTileCounts& row_tile) {
    const uint32_t number = format.class_of_columns(
        format.counts.every_column ? static_cast<uint64_t>(format.shape.columns) : row_tile.columns);
    if (number == format.counts.class_count ||
        found.classes[number].row_tiles == format.counts.classes[number].row_tiles) {
      return format.block_places();
    }
    found.nonzeros += row_tile.nonzeros;
    found.columns += row_tile.columns;
    return format.first_place(number) + found.classes[number].row_tiles++;
  }
  constexpr bool all_of(const RegionFormat& format) const {
    return found.nonzeros == format.counts.nonzeros && found.columns == format.counts.columns;
  }
};

/// Writes `count` numbers from a place on.
inline void write_numbers(const RegionFormat& format, uint64_t place, uint64_t count, int64_t row_tile,
                          unsigned char* packed) {
  const uint32_t wide = static_cast<uint32_t>(row_tile);
  const uint16_t narrow = static_cast<uint16_t>(row_tile);
  const bool is_narrow = format.number == ScalarType::u16;
  for (uint64_t at = place; format.has_numbers() && at < place + count; ++at) {
    memcpy(packed + format.number_of(at), is_narrow ? static_cast<const void*>(&narrow) : &wide,
           size_of(format.number));
  }
}

/// Writes the columns and the values of a row tile at its place.
template <typename Column, typename Source>
void fill_place(const Source& source, const RegionFormat& format, int64_t row_tile, uint64_t place,
                unsigned char* packed) {
  using Element = typename Source::ElementType;
  const uint32_t height = format.shape.height;
  const bool every_column = format.counts.every_column;
  const uint32_t number = format.class_of_place(place);
  const uint64_t packet = format.packet_of(number, place);
  const uint64_t room = uint64_t{packet_columns} * format.counts.classes[number].packets;
  Column* const columns = reinterpret_cast<Column*>(packed + format.columns_of(packet));
  Element* const values = reinterpret_cast<Element*>(packed + format.values_of(packet));
  memset(values, 0, static_cast<size_t>(room * height * sizeof(Element)));
  uint64_t index = 0;
  source.visit(format.shape.first_row(row_tile), format.shape.rows_in(row_tile),
               [&](int64_t column, uint64_t mask, const auto& value_of) {
                 const uint64_t at = every_column ? static_cast<uint64_t>(column) : index;
                 if (!every_column) {
                   columns[at] = static_cast<Column>(column);
                 }
                 for (uint64_t rows = mask; rows != 0; rows &= rows - 1) {
                   const int row = lowest_set(rows);
                   values[at * height + static_cast<uint32_t>(row)] = value_of(row);
                 }
                 ++index;
               });
  for (; !every_column && index < room; ++index) {
    columns[index] = index == 0 ? Column{0} : columns[index - 1];
  }
  write_numbers(format, place, 1, row_tile, packed);
}

/// Writes a row tile at a place that RowTilePlaces gave for it.
template <typename Source>
void pack_row_tile(const Source& source, const RegionFormat& format, int64_t row_tile, uint64_t place, void* packed) {
  unsigned char* const bytes = static_cast<unsigned char*>(packed);
  if (format.column == ScalarType::u16) {
    fill_place<uint16_t>(source, format, row_tile, place, bytes);
  } else {
    fill_place<uint32_t>(source, format, row_tile, place, bytes);
  }
}

/// Writes what belongs to no row tile, and the header, after all row tiles.
inline void seal(const RegionFormat& format, void* packed) {
  unsigned char* const bytes = static_cast<unsigned char*>(packed);
  const auto zero = [bytes](uint64_t first, uint64_t end) {
    memset(bytes + first, 0, static_cast<size_t>(end - first));
  };
  for (uint32_t number = 0; number < format.counts.class_count; ++number) {
    const uint64_t place = format.first_place(number) + format.counts.classes[number].row_tiles;
    const uint64_t packet = format.packet_of(number, place);
    if (!format.counts.every_column) {
      zero(format.columns_of(packet), format.columns_of(format.first_packet[number + 1]));
    }
    zero(format.values_of(packet), format.values_of(format.first_packet[number + 1]));
    write_numbers(format, place, format.first_place(number + 1) - place, format.shape.row_tiles(), bytes);
  }
  const uint64_t last = format.first_place(format.counts.class_count);
  write_numbers(format, last, format.block_places() - last, format.shape.row_tiles(), bytes);
  zero(format.columns_of(format.counts.every_column ? 0 : format.packets()), format.values_at);
  zero(format.number_of(format.has_numbers() ? format.block_places() : 0), format.bytes);
  write_header(format, bytes);
}

/// Packs A into `packed`, format.bytes bytes aligned to 8. False, and nothing promised of `packed`, when A does not
/// have the counts of the format; nothing is ever written outside it.
template <typename Source>
bool pack_serially(const Source& source, const RegionFormat& format, void* packed) {
  RowTilePlaces places;
  for (int64_t row_tile = 0; row_tile < format.shape.row_tiles(); ++row_tile) {
    const uint64_t place = places.take(format, count_row_tile(source, format.shape, row_tile));
    if (place == format.block_places()) {
      return false;
    }
    pack_row_tile(source, format, row_tile, place, packed);
  }
  if (!places.all_of(format)) {
    return false;
  }
  seal(format, packed);
  return true;
}

// [packing text ends]
}  // namespace esc::transformer
