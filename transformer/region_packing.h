// SPDX-License-Identifier: Apache-2.0
#pragma once

// Packing into regions, one panel at a time. As in packed_bytes.h, the text between the markers is part of the
// generated transformers of kernels that read regions.

#include "transformer/panel_sources.h"
#include "transformer/region_format.h"

namespace esc::transformer {
// [packing text begins]

// ---------------------------------------------------------------------------------------------------------------------
// Packing into regions. A panel's number of columns says which class it is of; taken in the order of their rows, the
// panels get the next place of their class, so that nothing needs to be sorted and there is no list of them.
// ---------------------------------------------------------------------------------------------------------------------

/// How much one panel has.
struct PanelCounts {
  uint64_t nonzeros = 0;
  uint64_t columns = 0;
};

template <typename Source>
PanelCounts count_panel(const Source& source, const RegionShape& shape, int64_t panel) {
  PanelCounts counts;
  source.visit(shape.first_row(panel), shape.rows_in(panel), [&counts](int64_t, uint64_t mask, const auto&) {
    ++counts.columns;
    counts.nonzeros += popcount(mask);
  });
  return counts;
}

/// Gives panels their places, in the order of their rows.
struct PanelPlaces {
  RegionCounts found = {};  ///< in the panels that have one

  /// The place of the next panel; behind all places when the format has none for it.
  constexpr uint64_t take(const RegionFormat& format, const PanelCounts& panel) {
    const uint32_t number = format.class_of_columns(
        format.counts.every_column ? static_cast<uint64_t>(format.shape.columns) : panel.columns);
    if (number == format.counts.class_count || found.classes[number].panels == format.counts.classes[number].panels) {
      return format.block_places();
    }
    found.nonzeros += panel.nonzeros;
    found.columns += panel.columns;
    return format.first_place(number) + found.classes[number].panels++;
  }
  constexpr bool all_of(const RegionFormat& format) const {
    return found.nonzeros == format.counts.nonzeros && found.columns == format.counts.columns;
  }
};

/// Writes `count` numbers from a place on.
inline void write_numbers(const RegionFormat& format, uint64_t place, uint64_t count, int64_t panel,
                          unsigned char* packed) {
  const uint32_t wide = static_cast<uint32_t>(panel);
  const uint16_t narrow = static_cast<uint16_t>(panel);
  const bool is_narrow = format.number == ScalarType::u16;
  for (uint64_t at = place; format.has_numbers() && at < place + count; ++at) {
    memcpy(packed + format.number_of(at), is_narrow ? static_cast<const void*>(&narrow) : &wide,
           size_of(format.number));
  }
}

/// Writes the columns and the values of a panel at its place.
template <typename Column, typename Source>
void fill_place(const Source& source, const RegionFormat& format, int64_t panel, uint64_t place,
                unsigned char* packed) {
  using Element = typename Source::ElementType;
  const uint32_t height = format.shape.height;
  const bool every_column = format.counts.every_column;
  const uint32_t number = format.class_of_place(place);
  const uint64_t quad = format.quad_of(number, place);
  const uint64_t room = uint64_t{quad_columns} * format.counts.classes[number].quads;
  Column* const columns = reinterpret_cast<Column*>(packed + format.columns_of(quad));
  Element* const values = reinterpret_cast<Element*>(packed + format.values_of(quad));
  memset(values, 0, static_cast<size_t>(room * height * sizeof(Element)));
  uint64_t index = 0;
  source.visit(format.shape.first_row(panel), format.shape.rows_in(panel),
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
  write_numbers(format, place, 1, panel, packed);
}

/// Writes a panel at a place that PanelPlaces gave for it.
template <typename Source>
void pack_panel(const Source& source, const RegionFormat& format, int64_t panel, uint64_t place, void* packed) {
  unsigned char* const bytes = static_cast<unsigned char*>(packed);
  if (format.column == ScalarType::u16) {
    fill_place<uint16_t>(source, format, panel, place, bytes);
  } else {
    fill_place<uint32_t>(source, format, panel, place, bytes);
  }
}

/// Writes what belongs to no panel, and the header, after all panels.
inline void seal(const RegionFormat& format, void* packed) {
  unsigned char* const bytes = static_cast<unsigned char*>(packed);
  const auto zero = [bytes](uint64_t first, uint64_t behind) {
    memset(bytes + first, 0, static_cast<size_t>(behind - first));
  };
  for (uint32_t number = 0; number < format.counts.class_count; ++number) {
    const uint64_t place = format.first_place(number) + format.counts.classes[number].panels;
    const uint64_t quad = format.quad_of(number, place);
    if (!format.counts.every_column) {
      zero(format.columns_of(quad), format.columns_of(format.first_quad[number + 1]));
    }
    zero(format.values_of(quad), format.values_of(format.first_quad[number + 1]));
    write_numbers(format, place, format.first_place(number + 1) - place, format.shape.panels(), bytes);
  }
  const uint64_t last = format.first_place(format.counts.class_count);
  write_numbers(format, last, format.block_places() - last, format.shape.panels(), bytes);
  zero(format.columns_of(format.counts.every_column ? 0 : format.quads()), format.values_at);
  zero(format.number_of(format.has_numbers() ? format.block_places() : 0), format.bytes);
  write_header(format, bytes);
}

/// Packs A into `packed`, format.bytes bytes aligned to 8. False, and nothing promised of `packed`, when A does not
/// have the counts of the format; nothing is ever written outside it.
template <typename Source>
bool pack_serially(const Source& source, const RegionFormat& format, void* packed) {
  PanelPlaces places;
  for (int64_t panel = 0; panel < format.shape.panels(); ++panel) {
    const uint64_t place = places.take(format, count_panel(source, format.shape, panel));
    if (place == format.block_places()) {
      return false;
    }
    pack_panel(source, format, panel, place, packed);
  }
  if (!places.all_of(format)) {
    return false;
  }
  seal(format, packed);
  return true;
}

// [packing text ends]
}  // namespace esc::transformer
