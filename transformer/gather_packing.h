// SPDX-License-Identifier: Apache-2.0
#pragma once

// Packing of gathered rows, one panel at a time. As in packed_bytes.h, the text between the markers is part of the
// generated transformers of kernels that read them.

#include "transformer/gather_format.h"
#include "transformer/panel_sources.h"

namespace esc::transformer {
// [packing text begins]

// ---------------------------------------------------------------------------------------------------------------------
// Packing of gathered rows. First each row gets its seat, by its length; then the lists get their places, by what
// panels have for each window; then they are filled. A panel goes from window to window, as what it takes of a row
// for one depends on what it took for those before.
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

/// Non-zeros of a row in the columns from `first` to before `behind`.
template <typename Source>
uint64_t count_entries(const Source& source, int64_t row, int64_t first, int64_t behind) {
  uint64_t count = 0;
  source.visit_columns(first, behind, row, 1, [&count](int64_t, uint64_t, const auto&) { ++count; });
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

/// Gives each row its seat.
template <typename Source>
void seat_rows(const Source& source, const GatherFormat& format, unsigned char* packed) {
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
  for (uint64_t seat = 0; seat < format.seats(); ++seat) {
    store_word(packed + format.row_at(seat), static_cast<uint64_t>(shape.rows));
  }
  for (int64_t row = 0; row < shape.rows; ++row) {
    const uint64_t seat = format.seat_of(classes.next[classes.class_of(length_of(source, shape, row))]++);
    store_word(packed + format.row_at(seat), static_cast<uint64_t>(row));
  }
}

/// One row of a panel while it is packed.
struct GatheredRow {
  int64_t row = 0;
  bool is_there = false;
  uint64_t length = 0;
  uint64_t taken = 0;                       ///< entries that lists have
  uint64_t reached = 0;                     ///< entries in windows up to the one behind the panel's
  uint64_t in_window[gather_windows] = {};  ///< entries, by the windows' numbers modulo 4

  constexpr uint64_t ended(uint64_t window) const {  ///< entries in windows before the panel's
    return reached - in_window[window % gather_windows] - in_window[(window + 1) % gather_windows];
  }
};

/// A panel while it is packed.
struct GatheredPanel {
  GatheredRow rows[max_gather_rows];
  uint64_t nonzeros = 0;
};

/// The rows of a panel, which have their seats.
template <typename Source>
void read_panel_rows(const Source& source, const GatherFormat& format, uint64_t block, uint32_t panel,
                     const unsigned char* packed, GatheredPanel& result) {
  for (uint32_t r = 0; r < format.shape.height; ++r) {
    const uint32_t row = load_word(packed + format.row_at(format.first_seat(block, panel) + r));
    GatheredRow& one = result.rows[r];
    one.row = row;
    one.is_there = row < format.shape.rows;
    one.length = one.is_there ? length_of(source, format.shape, row) : 0;
    result.nonzeros += one.length;
  }
}

/// Counts what the panel's rows have in a window.
template <typename Source>
void reach_window(const Source& source, const GatherFormat& format, uint64_t window, GatheredPanel& panel) {
  const int64_t first = static_cast<int64_t>(window * gather_columns);
  const int64_t behind = first + gather_columns < format.shape.columns ? first + gather_columns : format.shape.columns;
  for (uint32_t r = 0; r < format.shape.height; ++r) {
    GatheredRow& row = panel.rows[r];
    const uint64_t count =
        row.is_there && window < format.windows() ? count_entries(source, row.row, first, behind) : 0;
    row.in_window[window % gather_windows] = count;
    row.reached += count;
  }
}

/// The panel's steps for a window, when the one behind it is reached: as many as the row that has most left takes if it
/// has equally many in each window to come, no more than rows can take, and enough for what the window before has left.
/// For the last window that is all there is.
inline uint32_t steps_of(const GatherFormat& format, uint64_t window, const GatheredPanel& panel) {
  const uint64_t to_come = format.windows() - window;
  uint64_t needed = 0, possible = 0, most_left = 0;
  for (uint32_t r = 0; r < format.shape.height; ++r) {
    const GatheredRow& row = panel.rows[r];
    const uint64_t ended = row.ended(window);
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

/// Writes what a row has for a window into the panel's entries, whose bytes are zero.
template <typename Source>
void write_entries(const Source& source, const GatherFormat& format, uint64_t window, uint32_t steps, uint32_t number,
                   const GatheredRow& row, unsigned char* entries) {
  uint32_t written = 0, place = gathered_place(window, 0);
  const auto write_place = [&] {
    memcpy(entries + format.entry_at(written / step_entries, number, written % step_entries) + 4, &place, sizeof place);
  };
  if (row.is_there) {
    const uint64_t first_window = window == 0 ? 0 : window - 1;
    uint64_t index = window == 0 ? 0 : row.ended(window) - row.in_window[(window - 1) % gather_windows];
    const int64_t behind = static_cast<int64_t>((window + 2) * gather_columns);
    source.visit_columns(static_cast<int64_t>(first_window * gather_columns),
                         behind < format.shape.columns ? behind : format.shape.columns, row.row, 1,
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

/// Goes through the windows with a panel whose rows have their seats: visit(window, steps, panel) for each. Returns its
/// non-zeros.
template <typename Source, typename Visit>
uint64_t visit_windows(const Source& source, const GatherFormat& format, uint64_t block, uint32_t number,
                       const unsigned char* rows, const Visit& visit) {
  GatheredPanel panel;
  read_panel_rows(source, format, block, number, rows, panel);
  reach_window(source, format, 0, panel);
  for (uint64_t window = 0; window < format.windows(); ++window) {
    reach_window(source, format, window + 1, panel);
    const uint32_t steps = steps_of(format, window, panel);
    visit(window, steps, panel);
    for (uint32_t r = 0; r < format.shape.height; ++r) {
      GatheredRow& row = panel.rows[r];
      const uint64_t behind = row.taken + uint64_t{step_entries} * steps;
      row.taken = behind < row.reached ? behind : row.reached;
    }
  }
  return panel.nonzeros;
}

/// What there is to find out about blocks before their lists have places.
struct GatherTally {
  uint64_t nonzeros = 0;
  uint32_t steps = 1;        ///< of a panel for a window at most
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

/// Counts a block whose rows have their seats; where its lists begin stands how many pieces they have.
template <typename Source>
GatherTally count_block(const Source& source, const GatherFormat& format, uint64_t block, unsigned char* packed) {
  GatherTally tally;
  const auto list = [&](uint64_t window) { return packed + format.begin_at(block, window); };
  for (uint64_t window = 0; window < format.windows(); ++window) {
    store_word(list(window), format.fixed_pieces());
  }
  for (uint32_t number = 0; number < format.shape.block_panels; ++number) {
    tally.nonzeros += visit_windows(
        source, format, block, number, packed, [&](uint64_t window, uint32_t steps, const GatheredPanel&) {
          store_word(list(window), load_word(list(window)) + uint64_t{steps} * format.shape.height);
          tally.steps = steps > tally.steps ? steps : tally.steps;
        });
  }
  for (uint64_t window = 0; window < format.windows(); ++window) {
    const uint64_t pieces = load_word(list(window));
    tally.pieces += pieces;
    tally.list_pieces = pieces > tally.list_pieces ? pieces : tally.list_pieces;
  }
  return tally;
}

/// Lists, which are counted, get their places, one behind the other.
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
  const auto list = [&](uint64_t window) {
    return packed + format.list_at(load_word(packed + format.begin_at(block, window)));
  };
  for (uint64_t window = 0; window < format.windows(); ++window) {
    memset(list(window), 0, static_cast<size_t>(list(window + 1) - list(window)));
    store_word(list(window), format.begins_pieces());
  }
  for (uint32_t number = 0; number < format.shape.block_panels; ++number) {
    visit_windows(
        source, format, block, number, packed, [&](uint64_t window, uint32_t steps, const GatheredPanel& panel) {
          const uint64_t begin = load_word(list(window) + format.panel_begin_at(number));
          for (uint32_t r = 0; r < format.shape.height; ++r) {
            write_entries(source, format, window, steps, r, panel.rows[r], list(window) + begin * piece_bytes);
          }
          store_word(list(window) + format.panel_begin_at(number + 1), begin + uint64_t{steps} * format.shape.height);
        });
  }
}

/// Packs A into `packed`, format.bytes bytes aligned to 8. False, and nothing promised of `packed`, when A does not
/// have the counts of the format; nothing is ever written outside it.
template <typename Source>
bool pack_serially(const Source& source, const GatherFormat& format, void* packed) {
  unsigned char* const bytes = static_cast<unsigned char*>(packed);
  seat_rows(source, format, bytes);
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
