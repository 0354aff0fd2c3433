// SPDX-License-Identifier: Apache-2.0
#pragma once

// Packing of gathered rows, one row tile at a time. As in packed_bytes.h, the text between the markers is part of the
// generated transformers of kernels that read them.

#include "transformer/gather_format.h"
#include "transformer/row_tile_sources.h"

namespace esc::transformer {
// [packing text begins]

// ---------------------------------------------------------------------------------------------------------------------
// Packing of gathered rows. First each row gets its tile slot, by its length; then the lists get their places, by what
// row tiles have for each K tile; then they are filled. A row tile goes from K tile to K tile, as what it takes of a
// row for one depends on what it took for those before.
// ---------------------------------------------------------------------------------------------------------------------

inline uint32_t load_word(const unsigned char* at) {
  uint32_t word;
  memcpy(&word, at, sizeof word);
  return word;
}
inline void store_word(unsigned char* at, uint64_t number) {
  const uint32_t word = static_cast<uint32_t>(number);
  memcpy(at, &word, sizeof word);
}

/// Non-zeros of a row in the columns from `first` to before `end`.
template <typename Source>
uint64_t count_entries(const Source& source, int64_t row, int64_t first, int64_t end) {
  uint64_t count = 0;
  source.visit_columns(first, end, row, 1, [&count](int64_t, uint64_t, const auto&) { ++count; });
  return count;
}
template <typename Source>
uint64_t length_of(const Source& source, const GatherShape& shape, int64_t row) {
  return count_entries(source, row, 0, shape.columns);
}

/// Classes of lengths, the longest one first.
struct LengthClasses {
  uint64_t shortest = UINT64_MAX;
  uint64_t longest = 0;
  uint64_t next[length_classes + 1] = {};  ///< the number of the next row of each

  constexpr void reach(uint64_t length) {
    shortest = length < shortest ? length : shortest;
    longest = length > longest ? length : longest;
  }
  constexpr uint32_t class_of(uint64_t length) const {
    return static_cast<uint32_t>((longest - length) * length_classes / (longest - shortest + 1));
  }
};

/// Gives each row its tile slot.
template <typename Source>
void tile_slot_rows(const Source& source, const GatherFormat& format, unsigned char* packed) {
  const GatherShape& shape = format.shape;
  LengthClasses classes;
  for (int64_t row = 0; row < shape.rows; ++row) {
    classes.reach(length_of(source, shape, row));
  }
  for (int64_t row = 0; row < shape.rows; ++row) {
    ++classes.next[classes.class_of(length_of(source, shape, row)) + 1];
  }
  for (uint32_t number = 0; number < length_classes; ++number) {
    classes.next[number + 1] += classes.next[number];
  }
  memset(packed + header_bytes, 0, static_cast<size_t>(format.lists_at - header_bytes));
  for (uint64_t tile_slot = 0; tile_slot < format.tile_slots(); ++tile_slot) {
    store_word(packed + format.row_at(tile_slot), static_cast<uint64_t>(shape.rows));
  }
  for (int64_t row = 0; row < shape.rows; ++row) {
    const uint64_t tile_slot = format.tile_slot_of(classes.next[classes.class_of(length_of(source, shape, row))]++);
    store_word(packed + format.row_at(tile_slot), static_cast<uint64_t>(row));
  }
}

/// One row of a row tile while it is packed.
struct GatheredRow {
  int64_t row = 0;
  bool is_there = false;
  uint64_t length = 0;
  uint64_t taken = 0;                       ///< entries that lists have
  uint64_t reached = 0;                     ///< entries in K tiles up to the one after the row tile's
  uint64_t in_k_tile[gather_k_tiles] = {};  ///< entries, by the K tiles' numbers modulo 4

  constexpr uint64_t ended(uint64_t k_tile) const {  ///< entries in K tiles before the row tile's
    return reached - in_k_tile[k_tile % gather_k_tiles] - in_k_tile[(k_tile + 1) % gather_k_tiles];
  }
};

/// A row tile while it is packed.
struct GatheredRowTile {
  GatheredRow rows[max_gather_rows];
  uint64_t nonzeros = 0;
};

/// The rows of a row tile, which have their tile slots.
template <typename Source>
void read_row_tile_rows(const Source& source, const GatherFormat& format, uint64_t block, uint32_t row_tile,
                        const unsigned char* packed, GatheredRowTile& result) {
  for (uint32_t r = 0; r < format.shape.height; ++r) {
    const uint32_t row = load_word(packed + format.row_at(format.first_tile_slot(block, row_tile) + r));
    GatheredRow& one = result.rows[r];
    one.row = row;
    one.is_there = row < format.shape.rows;
    one.length = one.is_there ? length_of(source, format.shape, row) : 0;
    result.nonzeros += one.length;
  }
}

/// Counts what the row tile's rows have in a K tile.
template <typename Source>
void reach_k_tile(const Source& source, const GatherFormat& format, uint64_t k_tile, GatheredRowTile& row_tile) {
  const int64_t first = static_cast<int64_t>(k_tile * gather_columns);
  const int64_t end = first + gather_columns < format.shape.columns ? first + gather_columns : format.shape.columns;
  for (uint32_t r = 0; r < format.shape.height; ++r) {
    GatheredRow& row = row_tile.rows[r];
    const uint64_t count = row.is_there && k_tile < format.k_tiles() ? count_entries(source, row.row, first, end) : 0;
    row.in_k_tile[k_tile % gather_k_tiles] = count;
    row.reached += count;
  }
}

/// The row tile's steps for a K tile, when the one after it is reached: as many as the row that has most left takes if
/// it has equally many in each K tile to come, no more than rows can take, and enough for what the K tile before has
/// left. For the last K tile that is all there is.
inline uint32_t steps_of(const GatherFormat& format, uint64_t k_tile, const GatheredRowTile& row_tile) {
  const uint64_t to_come = format.k_tiles() - k_tile;
  uint64_t needed = 0, possible = 0, most_left = 0;
  for (uint32_t r = 0; r < format.shape.height; ++r) {
    const GatheredRow& row = row_tile.rows[r];
    const uint64_t ended = row.ended(k_tile);
    needed = ended > row.taken && ended - row.taken > needed ? ended - row.taken : needed;
    possible = row.reached - row.taken > possible ? row.reached - row.taken : possible;
    most_left = row.length - row.taken > most_left ? row.length - row.taken : most_left;
  }
  const auto steps = [](uint64_t entries) { return (entries + step_entries - 1) / step_entries; };
  const uint64_t entries_to_come = to_come * step_entries;
  const uint64_t even = (2 * most_left + entries_to_come) / (2 * entries_to_come);  // rounded to the nearest
  const uint64_t wanted = even < steps(possible) ? even : steps(possible);
  return static_cast<uint32_t>(steps(needed) > wanted ? steps(needed) : wanted);
}

/// Writes what a row has for a K tile into the row tile's entries, whose bytes are zero.
template <typename Source>
void write_entries(const Source& source, const GatherFormat& format, uint64_t k_tile, uint32_t steps, uint32_t number,
                   const GatheredRow& row, unsigned char* entries) {
  uint32_t written = 0, place = gathered_place(k_tile, 0);
  const auto write_place = [&] {
    memcpy(entries + format.entry_at(written / step_entries, number, written % step_entries) + 4, &place, sizeof place);
  };
  if (row.is_there) {
    const uint64_t first_k_tile = k_tile == 0 ? 0 : k_tile - 1;
    uint64_t index = k_tile == 0 ? 0 : row.ended(k_tile) - row.in_k_tile[(k_tile - 1) % gather_k_tiles];
    const int64_t end = static_cast<int64_t>((k_tile + 2) * gather_columns);
    source.visit_columns(static_cast<int64_t>(first_k_tile * gather_columns),
                         end < format.shape.columns ? end : format.shape.columns, row.row, 1,
                         [&](int64_t column, uint64_t, const auto& value_of) {
                           if (index >= row.taken && written < steps * step_entries) {
                             const auto value = value_of(0);
                             place = gathered_place(static_cast<uint64_t>(column) / gather_columns,
                                                    static_cast<uint32_t>(column % gather_columns));
                             memcpy(entries + format.entry_at(written / step_entries, number, written % step_entries),
                                    &value, sizeof value);
                             write_place();
                             ++written;
                           }
                           ++index;
                         });
  }
  for (; written < steps * step_entries; ++written) {
    write_place();
  }
}

/// Goes through the K tiles with a row tile whose rows have their tile slots: visit(K tile, steps, row tile) for each.
/// Returns its non-zeros.
template <typename Source, typename Visit>
uint64_t visit_k_tiles(const Source& source, const GatherFormat& format, uint64_t block, uint32_t number,
                       const unsigned char* rows, const Visit& visit) {
  GatheredRowTile row_tile;
  read_row_tile_rows(source, format, block, number, rows, row_tile);
  reach_k_tile(source, format, 0, row_tile);
  for (uint64_t k_tile = 0; k_tile < format.k_tiles(); ++k_tile) {
    reach_k_tile(source, format, k_tile + 1, row_tile);
    const uint32_t steps = steps_of(format, k_tile, row_tile);
    visit(k_tile, steps, row_tile);
    for (uint32_t r = 0; r < format.shape.height; ++r) {
      GatheredRow& row = row_tile.rows[r];
      const uint64_t end = row.taken + uint64_t{step_entries} * steps;
      row.taken = end < row.reached ? end : row.reached;
    }
  }
  return row_tile.nonzeros;
}

/// What there is to find out about blocks before their lists have places.
struct GatherTally {
  uint64_t nonzeros = 0;
  uint32_t steps = 1;        ///< of a row tile for a K tile at most
  uint64_t list_pieces = 0;  ///< of a list at most
  uint64_t pieces = 0;       ///< of all lists

  constexpr void add(const GatherTally& other) {
    nonzeros += other.nonzeros;
    pieces += other.pieces;
    steps = other.steps > steps ? other.steps : steps;
    list_pieces = other.list_pieces > list_pieces ? other.list_pieces : list_pieces;
  }
  constexpr bool is_of(const GatherFormat& format) const {
    return nonzeros == format.counts.nonzeros && pieces == format.counts.pieces && steps == format.shape.steps &&
           list_pieces == format.shape.list_pieces;
  }
};

/// Counts a block whose rows have their tile slots; where its lists begin is how many pieces they have.
template <typename Source>
GatherTally count_block(const Source& source, const GatherFormat& format, uint64_t block, unsigned char* packed) {
  GatherTally tally;
  const auto list = [&](uint64_t k_tile) { return packed + format.begin_at(block, k_tile); };
  for (uint64_t k_tile = 0; k_tile < format.k_tiles(); ++k_tile) {
    store_word(list(k_tile), format.fixed_pieces());
  }
  for (uint32_t number = 0; number < format.shape.block_row_tiles; ++number) {
    tally.nonzeros += visit_k_tiles(
        source, format, block, number, packed, [&](uint64_t k_tile, uint32_t steps, const GatheredRowTile&) {
          store_word(list(k_tile), load_word(list(k_tile)) + uint64_t{steps} * format.shape.height);
          tally.steps = steps > tally.steps ? steps : tally.steps;
        });
  }
  for (uint64_t k_tile = 0; k_tile < format.k_tiles(); ++k_tile) {
    const uint64_t pieces = load_word(list(k_tile));
    tally.pieces += pieces;
    tally.list_pieces = pieces > tally.list_pieces ? pieces : tally.list_pieces;
  }
  return tally;
}

/// Lists, which are counted, get their places, one after the other.
inline void place_lists(const GatherFormat& format, unsigned char* packed) {
  uint64_t begin = 0;
  for (uint64_t number = 0; number < format.lists(); ++number) {
    unsigned char* const at = packed + format.begin_at(0, number);
    const uint64_t pieces = load_word(at);
    store_word(at, begin);
    begin += pieces;
  }
  store_word(packed + format.begin_at(0, format.lists()), begin);
}

/// Fills the lists of a block, which have their places.
template <typename Source>
void fill_block(const Source& source, const GatherFormat& format, uint64_t block, unsigned char* packed) {
  const auto list = [&](uint64_t k_tile) {
    return packed + format.list_at(load_word(packed + format.begin_at(block, k_tile)));
  };
  for (uint64_t k_tile = 0; k_tile < format.k_tiles(); ++k_tile) {
    memset(list(k_tile), 0, static_cast<size_t>(list(k_tile + 1) - list(k_tile)));
    store_word(list(k_tile), format.begins_pieces());
  }
  for (uint32_t number = 0; number < format.shape.block_row_tiles; ++number) {
    visit_k_tiles(
        source, format, block, number, packed, [&](uint64_t k_tile, uint32_t steps, const GatheredRowTile& row_tile) {
          const uint64_t begin = load_word(list(k_tile) + format.row_tile_begin_at(number));
          for (uint32_t r = 0; r < format.shape.height; ++r) {
            write_entries(source, format, k_tile, steps, r, row_tile.rows[r], list(k_tile) + begin * piece_bytes);
          }
          store_word(list(k_tile) + format.row_tile_begin_at(number + 1),
                     begin + uint64_t{steps} * format.shape.height);
        });
  }
}

/// Packs A into `packed`, format.bytes bytes aligned to 8. False, and nothing promised of `packed`, when A does not
/// have the counts of the format; nothing is ever written outside it.
template <typename Source>
bool pack_serially(const Source& source, const GatherFormat& format, void* packed) {
  unsigned char* const bytes = static_cast<unsigned char*>(packed);
  tile_slot_rows(source, format, bytes);
  GatherTally tally;
  for (uint64_t block = 0; block < format.blocks(); ++block) {
    tally.add(count_block(source, format, block, bytes));
  }
  if (!tally.is_of(format)) {
    return false;
  }
  place_lists(format, bytes);
  for (uint64_t block = 0; block < format.blocks(); ++block) {
    fill_block(source, format, block, bytes);
  }
  write_header(format, bytes);
  return true;
}

// [packing text ends]
}  // namespace esc::transformer
