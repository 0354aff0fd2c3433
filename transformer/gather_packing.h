// SPDX-License-Identifier: Apache-2.0
#pragma once

// Packing of gathered rows, one panel at a time. As in packed_bytes.h, the text between the markers is part of the
// generated transformers of kernels that read them.

#include "transformer/gather_format.h"
#include "transformer/panel_sources.h"

namespace esc::transformer {
// [packing text begins]

// ---------------------------------------------------------------------------------------------------------------------
// Packing of gathered rows. First each row gets its seat, by its length; then the panels are packed, each window after
// window, as what a unit takes of a row depends on the units before.
// ---------------------------------------------------------------------------------------------------------------------

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
  const auto write = [&](uint64_t seat, int64_t row) {
    const uint32_t narrow = static_cast<uint32_t>(row);
    memcpy(packed + format.row_at(seat), &narrow, sizeof narrow);
  };
  for (uint64_t seat = 0; seat < format.seats(); ++seat) {
    write(seat, shape.rows);
  }
  for (int64_t row = 0; row < shape.rows; ++row) {
    write(format.seat_of(classes.next[classes.class_of(length_of(source, shape, row))]++), row);
  }
  memset(packed + format.row_at(format.seats()), 0,
         static_cast<size_t>(format.units_at - format.row_at(format.seats())));
}

/// One row of a panel while it is packed.
struct GatheredRow {
  int64_t row = 0;
  bool is_there = false;
  uint64_t length = 0;
  uint64_t taken = 0;                       ///< entries that units have
  uint64_t reached = 0;                     ///< entries in windows up to the one behind the unit's
  uint64_t in_window[gather_windows] = {};  ///< entries, by the windows' numbers modulo 4

  constexpr uint64_t ended(uint64_t window) const {  ///< entries in windows before the unit's
    return reached - in_window[window % gather_windows] - in_window[(window + 1) % gather_windows];
  }
};

/// A panel while it is packed.
struct GatheredPanel {
  GatheredRow rows[max_gather_rows];
  uint64_t longest = 0;
  uint64_t given = 0;       ///< entries that the units so far have for each row
  uint32_t most_steps = 1;  ///< of a unit
  uint64_t nonzeros = 0;
};

/// The rows of a panel, which have their seats.
template <typename Source>
void read_panel_rows(const Source& source, const GatherFormat& format, uint64_t block, uint32_t panel,
                     const unsigned char* packed, GatheredPanel& result) {
  for (uint32_t r = 0; r < format.shape.height; ++r) {
    uint32_t row;
    memcpy(&row, packed + format.row_at(format.first_seat(block, panel) + r), sizeof row);
    GatheredRow& one = result.rows[r];
    one.row = row;
    one.is_there = row < format.shape.rows;
    one.length = one.is_there ? length_of(source, format.shape, row) : 0;
    result.longest = one.length > result.longest ? one.length : result.longest;
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

/// The steps of the unit of a window, behind which the next one is reached.
inline uint32_t steps_of(const GatherFormat& format, uint64_t window, const GatheredPanel& panel) {
  uint64_t needed = 0, possible = 0;
  for (uint32_t r = 0; r < format.shape.height; ++r) {
    const GatheredRow& row = panel.rows[r];
    const uint64_t must = window + 1 == format.windows() ? row.length : row.ended(window);
    needed = must > row.taken && must - row.taken > needed ? must - row.taken : needed;
    possible = row.reached - row.taken > possible ? row.reached - row.taken : possible;
  }
  // Rounded to the nearest.
  const uint64_t due = (2 * panel.longest * (window + 1) + format.windows()) / (2 * format.windows());
  const uint64_t pace = due > panel.given ? due - panel.given : 0;
  const uint64_t wanted = needed > pace ? needed : pace;
  return static_cast<uint32_t>(((wanted < possible ? wanted : possible) + step_entries - 1) / step_entries);
}

/// Writes what a row has in a unit whose bytes are zero.
template <typename Source>
void write_entries(const Source& source, const GatherFormat& format, uint64_t window, uint32_t steps, uint32_t number,
                   const GatheredRow& row, unsigned char* unit) {
  uint32_t written = 0, place = gathered_place(window, 0);
  const auto write_place = [&] {
    memcpy(unit + format.entry_at(written / step_entries, number, written % step_entries) + 4, &place, sizeof place);
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
                             memcpy(unit + format.entry_at(written / step_entries, number, written % step_entries),
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

/// Packs a panel whose rows have their seats; without `units` it finds out how many steps its units have. Units of more
/// steps than the format has are not written.
template <typename Source>
GatheredPanel pack_panel(const Source& source, const GatherFormat& format, uint64_t block, uint32_t number,
                         const unsigned char* rows, unsigned char* units) {
  GatheredPanel panel;
  read_panel_rows(source, format, block, number, rows, panel);
  reach_window(source, format, 0, panel);
  for (uint64_t window = 0; window < format.windows(); ++window) {
    reach_window(source, format, window + 1, panel);
    const uint32_t steps = steps_of(format, window, panel);
    panel.most_steps = steps > panel.most_steps ? steps : panel.most_steps;
    const bool is_written = units != nullptr && steps <= format.shape.steps;
    unsigned char* const unit = is_written ? units + format.unit_at(block, window, number) : nullptr;
    if (is_written) {
      memset(unit, 0, static_cast<size_t>(format.unit_bytes()));
      memcpy(unit, &steps, sizeof steps);
    }
    for (uint32_t r = 0; r < format.shape.height; ++r) {
      GatheredRow& row = panel.rows[r];
      if (is_written) {
        write_entries(source, format, window, steps, r, row, unit);
      }
      const uint64_t behind = row.taken + uint64_t{step_entries} * steps;
      row.taken = behind < row.reached ? behind : row.reached;
    }
    panel.given += uint64_t{step_entries} * steps;
  }
  return panel;
}

/// Packs A into `packed`, format.bytes bytes aligned to 8. False, and nothing promised of `packed`, when A does not
/// have the counts of the format; nothing is ever written outside it.
template <typename Source>
bool pack_serially(const Source& source, const GatherFormat& format, void* packed) {
  unsigned char* const bytes = static_cast<unsigned char*>(packed);
  seat_rows(source, format, bytes);
  uint64_t nonzeros = 0;
  uint32_t steps = 1;
  for (uint64_t block = 0; block < format.blocks(); ++block) {
    for (uint32_t number = 0; number < format.shape.block_panels; ++number) {
      const GatheredPanel panel = pack_panel(source, format, block, number, bytes, bytes);
      nonzeros += panel.nonzeros;
      steps = panel.most_steps > steps ? panel.most_steps : steps;
    }
  }
  if (nonzeros != format.counts.nonzeros || steps != format.shape.steps) {
    return false;
  }
  write_header(format, bytes);
  return true;
}

// [packing text ends]
}  // namespace esc::transformer
