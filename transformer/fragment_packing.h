// SPDX-License-Identifier: Apache-2.0
#pragma once

// Packing into fragments, one packed tile at a time. As in packed_bytes.h, the text between the markers is part of the
// generated transformers of kernels that read fragments.

#include "transformer/fragment_slots.h"
#include "transformer/placed_packing.h"

namespace esc::transformer {
// [packing text begins]

// ---------------------------------------------------------------------------------------------------------------------
// Packing into fragments. A block's K tiles follow each other, and a K tile takes rounds until no row tile of the block
// has anything left in it; so the blocks can be packed one after the other without knowing more than where one ends.
// ---------------------------------------------------------------------------------------------------------------------

static_assert(max_fragment_rows <= max_source_rows, "a row tile is visited at once");

/// The non-zeros of a row tile in a K tile.
struct KTileElements {
  KTileRows rows;
  uint32_t bits[max_k_tile_columns][max_fragment_rows];  ///< of the elements that the rows name
};

/// The rows that a K tile has non-zeros in; what visits them may read their values.
template <typename Source, typename Visit>
KTileRows visit_k_tile(const Source& source, const FragmentShape& shape, int64_t row_tile, uint64_t k_tile,
                       const Visit& visit) {
  const uint32_t width = k_tile_columns_of(shape);
  const int64_t first = static_cast<int64_t>(k_tile) * width;
  const int64_t end = first + width < shape.columns ? first + width : shape.columns;
  KTileRows rows = {};
  source.visit_columns(first, end, shape.first_row(row_tile), shape.rows_in(row_tile),
                       [&](int64_t column, uint64_t mask, const auto& value_of) {
                         rows.of_column[column - first] = static_cast<uint32_t>(mask);
                         visit(static_cast<uint32_t>(column - first), mask, value_of);
                       });
  return rows;
}

template <typename Source>
KTileRows read_rows(const Source& source, const FragmentShape& shape, int64_t row_tile, uint64_t k_tile) {
  return visit_k_tile(source, shape, row_tile, k_tile, [](uint32_t, uint64_t, const auto&) {});
}

template <typename Element>
uint32_t bits_of(const Element& element) {
  uint32_t bits;
  static_assert(sizeof bits == sizeof element, "fragments have elements of 32 bits");
  memcpy(&bits, &element, sizeof element);
  return bits;
}

template <typename Source>
void read_k_tile(const Source& source, const FragmentShape& shape, int64_t row_tile, uint64_t k_tile,
                 KTileElements& elements) {
  elements.rows =
      visit_k_tile(source, shape, row_tile, k_tile, [&](uint32_t column, uint64_t mask, const auto& value_of) {
        for (uint64_t rows = mask; rows != 0; rows &= rows - 1) {
          const int row = lowest_set(rows);
          elements.bits[column][row] = bits_of(value_of(row));
        }
      });
}

/// Columns of a K tile.
constexpr uint64_t columns_in(const FragmentShape& shape, uint64_t k_tile) {
  const uint64_t width = k_tile_columns_of(shape);
  const uint64_t end = static_cast<uint64_t>(shape.columns) - k_tile * width;
  return end < width ? end : width;
}

/// The seed of the search for the packed tile of this number that a row tile has in a K tile.
constexpr uint64_t seed_of(int64_t row_tile, uint64_t k_tile, uint64_t number) {
  return mix(mix(mix(1, static_cast<uint64_t>(row_tile)), k_tile), number);
}

inline uint64_t count_nonzeros(const KTileRows& rows) {
  uint64_t count = 0;
  for (const uint32_t of_column : rows.of_column) {
    count += popcount(of_column);
  }
  return count;
}

inline constexpr uint32_t first_slot_metadata = 4;  ///< also of a group that a row has nothing in
inline constexpr uint32_t second_slot_metadata = 14;

/// Writes the values and the metadata of a packed tile whose bytes are zero.
inline void write_values(const FragmentFormat& format, const PackedTileSlots& slots, const KTileElements& elements,
                         unsigned char* packed_tile) {
  for (uint32_t group = 0; group < format.shape.steps * step_groups; ++group) {
    for (uint32_t row = 0; row < format.shape.height; ++row) {
      const GroupPlace place = format.place_of(group / step_groups, group % step_groups, row);
      const uint32_t first = group * group_slots;
      const bool is_first = (slots.rows[first] >> row & 1) != 0, is_second = (slots.rows[first + 1] >> row & 1) != 0;
      if (is_first || is_second) {
        const uint32_t column = slots.column[is_second ? first + 1 : first];
        memcpy(packed_tile + place.value, &elements.bits[column][row], fragment_value_bytes);
      }
      uint32_t word;
      memcpy(&word, packed_tile + place.metadata, sizeof word);
      word |= (is_second ? second_slot_metadata : first_slot_metadata) << place.shift;
      memcpy(packed_tile + place.metadata, &word, sizeof word);
    }
  }
}

/// Writes the columns of a packed tile of a K tile with so many columns.
inline void write_columns(const FragmentFormat& format, const PackedTileSlots& slots, uint64_t width,
                          unsigned char* packed_tile) {
  for (uint32_t set = 0; set < format.shape.steps * sparse_step_slots; set += set_slots) {
    uint32_t present = 0;
    for (uint32_t slot = set; slot < set + set_slots; ++slot) {
      present |= slots.column[slot] != no_column ? 1u << slots.column[slot] % set_slots : 0;
    }
    uint32_t absent = 0;
    for (uint32_t slot = set; slot < set + set_slots; ++slot) {
      uint32_t column = slots.column[slot];
      if (column == no_column) {
        while (present >> absent & 1) {
          ++absent;
        }
        column = absent < width ? absent : 0;
        ++absent;
      }
      packed_tile[format.column_at(slot / sparse_step_slots, slot % sparse_step_slots)] =
          static_cast<unsigned char>(column);
    }
  }
}

/// Writes what is left into the residuals of a packed tile whose bytes are zero, and keeps in `left` what they do not
/// take.
inline void write_residuals(const FragmentFormat& format, const KTileElements& elements, KTileRows& left,
                            unsigned char* packed_tile) {
  uint32_t used = 0;
  for (uint32_t row_set = 0; row_set < row_sets && format.shape.residuals != 0; ++row_set) {
    for (uint32_t column = 0; column < format.k_tile_columns(); ++column) {
      for (uint32_t row = row_set; row < format.shape.height && used < format.shape.residuals; row += row_sets) {
        if (left.of_column[column] >> row & 1) {
          const uint32_t place = column | row / row_sets << 8;
          unsigned char* const residual = packed_tile + format.residual_at(used);
          memcpy(residual, &elements.bits[column][row], fragment_value_bytes);
          memcpy(residual + fragment_value_bytes, &place, sizeof place);
          left.of_column[column] &= ~(1u << row);
          ++used;
        }
      }
    }
    packed_tile[format.residuals_end_at(row_set)] = static_cast<unsigned char>(used);
  }
}

/// Writes the values of a packed tile whose bytes are zero where its steps are dense.
inline void write_dense_values(const FragmentFormat& format, const KTileElements& elements,
                               unsigned char* packed_tile) {
  for (uint32_t column = 0; column < format.k_tile_columns(); ++column) {
    for (uint32_t rows = elements.rows.of_column[column]; rows != 0; rows &= rows - 1) {
      const uint32_t row = static_cast<uint32_t>(lowest_set(rows));
      const GroupPlace place = format.place_of(column / format.step_slots(), column % format.step_slots(), row);
      memcpy(packed_tile + place.value, &elements.bits[column][row], fragment_value_bytes);
    }
  }
}

/// The values that a packed tile whose bytes are zero lists, one after the other. They are taken from `left`, which
/// keeps what the packed tile has no place for.
struct ValueList {
  const FragmentFormat& format;
  const KTileElements& elements;
  KTileRows& left;
  unsigned char* packed_tile;
  uint32_t used = 0;

  uint32_t room() const { return format.shape.listed - used; }
  bool is_left(const RowColumn& at) const { return (left.of_column[at.column] >> at.row & 1) != 0; }
  void add(const RowColumn& at) {
    memcpy(packed_tile + format.listed_at(used), &elements.bits[at.column][at.row], fragment_value_bytes);
    left.of_column[at.column] &= ~(1u << at.row);
    ++used;
  }
  /// Writes the number of the next one.
  void write_begin(uint64_t at) const { memcpy(packed_tile + at, &used, 2); }  // the lower bytes come first
};

/// Writes the lists of a packed tile: values, and bits that say which elements they are.
inline void write_lists(ValueList values) {
  const FragmentFormat& format = values.format;
  const uint32_t lane_values = list_columns * m16_tile_rows / lanes;
  for (uint32_t list = 0; list < format.lists(); ++list) {
    const uint32_t first_step = list / format.m16_tiles() * list_steps, m16_tile = list % format.m16_tiles();
    for (uint32_t lane = 0; lane < lanes; ++lane) {
      uint32_t bits = 0;
      if (lane % four_lanes == 0) {
        values.write_begin(format.begin_at(list, lane / four_lanes));
      }
      for (uint32_t bit = 0; bit < lane_values; ++bit) {
        const uint32_t group = bit % 4 / 2 * four_lanes + lane % four_lanes;
        const uint32_t column = (first_step + bit / 4) * step_groups + group;
        const uint32_t row = m16_tile * m16_tile_rows + bit % 2 * row_sets + lane / four_lanes;
        if (values.is_left({row, column}) && values.room() != 0) {
          values.add({row, column});
          bits |= 1u << bit;
        }
      }
      memcpy(values.packed_tile + format.bits_at(list, lane), &bits, 2);
    }
  }
}

/// Writes a packed tile, the one of this number that the row tile has in the K tile; `left` holds the rows of the K
/// tile that the packed tiles before it have left, then those that this one leaves.
inline void write_packed_tile(const FragmentFormat& format, const KTileElements& elements, int64_t row_tile,
                              uint64_t k_tile, uint64_t number, KTileRows& left, unsigned char* packed_tile) {
  memset(packed_tile, 0, static_cast<size_t>(format.packed_tile_bytes()));
  if (format.is_listed()) {
    write_lists({format, elements, left, packed_tile});
    return;
  }
  if (format.is_dense()) {
    write_dense_values(format, elements, packed_tile);
    memset(&left, 0, sizeof left);
    return;
  }
  PackedTileSlots slots;
  search_slots(format.shape.height, left, format.shape.steps, seed_of(row_tile, k_tile, number), slots);
  write_values(format, slots, elements, packed_tile);
  write_columns(format, slots, columns_in(format.shape, k_tile), packed_tile);
  write_residuals(format, elements, slots.left, packed_tile);
  left = slots.left;
}

/// What a block has in a K tile while it is packed, round by round.
struct BlockKTile {
  uint64_t block;
  uint64_t k_tile;
  uint64_t rounds = 0;    ///< that are written
  uint64_t nonzeros = 0;  ///< of all its row tiles
  bool complete = false;  ///< whether they hold everything
  KTileRows left[max_fragment_row_tiles] = {};
};

/// Reads what a row tile of the block has in the K tile, where the rounds before have left something of it.
template <typename Source>
void read_row_tile(const Source& source, const FragmentShape& shape, BlockKTile& at, uint32_t number,
                   KTileElements& elements) {
  const int64_t row_tile = static_cast<int64_t>(at.block * shape.block_row_tiles + number);
  KTileRows& left = at.left[number];
  memset(&elements.rows, 0, sizeof elements.rows);
  if (row_tile < shape.row_tiles() && (at.rounds == 0 || count_nonzeros(left) != 0)) {
    read_k_tile(source, shape, row_tile, at.k_tile, elements);
  }
  if (at.rounds == 0) {
    left = elements.rows;
    at.nonzeros += count_nonzeros(left);
  }
}

/// Writes the packed tile that some row tiles of the block, from `first` on, have together.
template <typename Source>
void write_placed_packed_tile(const Source& source, const FragmentFormat& format, BlockKTile& at, uint32_t first,
                              unsigned char* packed_tile) {
  const FragmentShape& shape = format.shape;
  PlacedElements placed;
  const auto visit_left = [&](uint32_t number, const auto& visit) {
    for (uint32_t column = 0; column < placed_columns; ++column) {
      for (uint32_t rows = at.left[first + number].of_column[column]; rows != 0; rows &= rows - 1) {
        const uint32_t row = static_cast<uint32_t>(lowest_set(rows));
        visit(row, column, format.place_order().place_of({number * shape.height + row, column}));
      }
    }
  };
  for (uint32_t number = 0; number < shape.joined; ++number) {
    KTileElements elements;
    read_row_tile(source, shape, at, first + number, elements);
    visit_left(number,
               [&](uint32_t row, uint32_t column, uint32_t place) { placed.add(place, elements.bits[column][row]); });
  }
  memset(packed_tile, 0, static_cast<size_t>(format.packed_tile_bytes()));
  write_placed_values(format, placed, packed_tile);
  for (uint32_t number = 0; number < shape.joined; ++number) {
    KTileRows& left = at.left[first + number];
    visit_left(number, [&](uint32_t row, uint32_t column, uint32_t place) {
      left.of_column[column] &= placed.is_there[place] ? ~0u : ~(1u << row);
    });
  }
}

/// Writes the next round, which begins at `packed_tiles`.
template <typename Source>
void write_round(const Source& source, const FragmentFormat& format, BlockKTile& at, unsigned char* packed_tiles) {
  const FragmentShape& shape = format.shape;
  for (uint32_t packed_tile = 0; packed_tile < format.round_packed_tiles(); ++packed_tile) {
    unsigned char* const bytes = packed_tiles + packed_tile * format.packed_tile_bytes();
    if (format.is_placed()) {
      write_placed_packed_tile(source, format, at, packed_tile * shape.joined, bytes);
      continue;
    }
    KTileElements elements;
    read_row_tile(source, shape, at, packed_tile, elements);
    const int64_t row_tile = static_cast<int64_t>(at.block * shape.block_row_tiles + packed_tile);
    write_packed_tile(format, elements, row_tile, at.k_tile, at.rounds, at.left[packed_tile], bytes);
  }
  at.complete = true;
  for (uint32_t i = 0; i < shape.block_row_tiles; ++i) {
    at.complete = at.complete && count_nonzeros(at.left[i]) == 0;
  }
  ++at.rounds;
}

/// Where the rounds of a block begin, and which K tile a round has; nothing in a regular format.
inline void write_first_round(const FragmentFormat& format, uint64_t block, uint64_t round, unsigned char* packed) {
  const uint32_t narrow = static_cast<uint32_t>(round);
  if (!format.regular()) {
    memcpy(packed + format.first_round_at(block), &narrow, sizeof narrow);
  }
}
inline void write_k_tile(const FragmentFormat& format, uint64_t round, uint64_t k_tile, unsigned char* packed) {
  const uint32_t wide = static_cast<uint32_t>(k_tile);
  if (!format.regular()) {
    memcpy(packed + format.k_tile_at(round), &wide, size_of(format.k_tile));  // the lower bytes come first
  }
}

/// Sets what lies between the sections to zero, and writes the header, after everything else.
inline void seal(const FragmentFormat& format, void* packed) {
  unsigned char* const bytes = static_cast<unsigned char*>(packed);
  if (!format.regular()) {
    const uint64_t rounds_end = format.first_round_at(format.blocks() + 1);
    const uint64_t k_tiles_end = format.k_tile_at(format.counts.rounds);
    memset(bytes + rounds_end, 0, static_cast<size_t>(format.k_tiles_at - rounds_end));
    memset(bytes + k_tiles_end, 0, static_cast<size_t>(format.packed_tiles_at - k_tiles_end));
  }
  write_header(format, bytes);
}

/// Packs A into `packed`, format.bytes bytes aligned to 8. False, and nothing promised of `packed`, when A does not
/// have the counts of the format; nothing is ever written outside it.
template <typename Source>
bool pack_serially(const Source& source, const FragmentFormat& format, void* packed) {
  unsigned char* const bytes = static_cast<unsigned char*>(packed);
  FragmentCounts found;
  for (uint64_t block = 0; block < format.blocks(); ++block) {
    write_first_round(format, block, found.rounds, bytes);
    for (uint64_t k_tile = 0; k_tile < format.k_tiles(); ++k_tile) {
      BlockKTile at{block, k_tile};
      while (!at.complete) {
        if (found.rounds == format.counts.rounds) {
          return false;
        }
        write_k_tile(format, found.rounds, k_tile, bytes);
        write_round(source, format, at, bytes + format.packed_tile_at(found.rounds, 0));
        ++found.rounds;
      }
      found.nonzeros += at.nonzeros;
    }
  }
  if (!(describe(format.shape, found) == format)) {
    return false;
  }
  write_first_round(format, format.blocks(), found.rounds, bytes);
  seal(format, packed);
  return true;
}

// [packing text ends]
}  // namespace esc::transformer
