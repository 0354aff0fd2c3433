// SPDX-License-Identifier: Apache-2.0
#pragma once

// Packing into lists, one row tile at a time. As in packed_bytes.h, the text between the markers is part of the
// generated transformers of kernels that read lists.

#include "transformer/list_format.h"
#include "transformer/row_tile_sources.h"

namespace esc::transformer {
// [packing text begins]

// ---------------------------------------------------------------------------------------------------------------------
// Packing. A row tile is counted, which says how much room it takes, and filled from where the row tiles before it end.
// ---------------------------------------------------------------------------------------------------------------------

static_assert(max_height <= 8, "Patterns are stored in one byte, and counters of all patterns are on the stack");

/// How many columns of a row tile have each pattern; pattern 0 is not counted.
struct PatternCounts {
  uint32_t columns[1u << max_height];
};

template <typename Source>
PatternCounts count_patterns(const Source& source, const ListShape& shape, int64_t row_tile) {
  PatternCounts counts;
  memset(&counts, 0, sizeof counts);
  source.visit(shape.first_row(row_tile), shape.rows_in(row_tile),
               [&counts](int64_t, uint64_t mask, const auto&) { ++counts.columns[mask]; });
  return counts;
}

/// What a row tile with these patterns adds to the packed matrix.
inline ListCounts total(const PatternCounts& counts, const ListShape& shape) {
  ListCounts sum;
  for (uint32_t pattern = 1; pattern < shape.patterns(); ++pattern) {
    const uint64_t columns = counts.columns[pattern];
    sum.lists += (columns + shape.max_list_columns - 1) / shape.max_list_columns;
    sum.columns += columns;
    sum.nonzeros += columns * popcount(pattern);
  }
  return sum;
}

/// The sections of a packed matrix, typed.
template <typename Column, typename Pointer, typename Element>
struct ListArrays {
  uint32_t* row_tiles;
  uint8_t* patterns;
  Pointer* rpp;
  Pointer* npp;
  Column* cols;
  Element* annz;
};

template <typename Column, typename Pointer, typename Element, typename Use>
void use_arrays(const ListFormat& format, void* packed, Use&& use) {
  const auto at = [&](SectionId id) -> void* {
    return static_cast<unsigned char*>(packed) + format.section(id).offset;
  };
  use(ListArrays<Column, Pointer, Element>{
      static_cast<uint32_t*>(at(SectionId::row_tiles)), static_cast<uint8_t*>(at(SectionId::patterns)),
      static_cast<Pointer*>(at(SectionId::rpp)), static_cast<Pointer*>(at(SectionId::npp)),
      static_cast<Column*>(at(SectionId::cols)), static_cast<Element*>(at(SectionId::annz))});
}

/// Calls use(arrays) with the arrays of the types that the format names.
template <typename Element, typename Use>
void with_arrays(const ListFormat& format, void* packed, Use&& use) {
  const bool narrow_column = format.section(SectionId::cols).type == ScalarType::u16;
  const bool narrow_pointer = format.section(SectionId::rpp).type == ScalarType::u32;
  if (narrow_column && narrow_pointer) {
    use_arrays<uint16_t, uint32_t, Element>(format, packed, use);
  } else if (narrow_column) {
    use_arrays<uint16_t, uint64_t, Element>(format, packed, use);
  } else if (narrow_pointer) {
    use_arrays<uint32_t, uint32_t, Element>(format, packed, use);
  } else {
    use_arrays<uint32_t, uint64_t, Element>(format, packed, use);
  }
}

/// Writes the lists of one row tile, beginning at `start`. `counts` are its pattern counts.
template <typename Source, typename Column, typename Pointer, typename Element>
void fill_row_tile(const Source& source, const ListShape& shape, int64_t row_tile, const PatternCounts& counts,
                   const ListCounts& start, const ListArrays<Column, Pointer, Element>& arrays) {
  // A list and its continuations are neighbours in Cols and ANNZ, so that one cursor per pattern serves them all.
  Column* next_column[1u << max_height];
  Element* next_value[1u << max_height];
  ListCounts at = start;
  for (uint32_t pattern = 1; pattern < shape.patterns(); ++pattern) {
    next_column[pattern] = arrays.cols + at.columns;
    next_value[pattern] = arrays.annz + at.nonzeros;
    for (uint32_t left = counts.columns[pattern]; left != 0;) {
      const uint32_t length = left < shape.max_list_columns ? left : shape.max_list_columns;
      arrays.row_tiles[at.lists] = static_cast<uint32_t>(row_tile);
      arrays.patterns[at.lists] = static_cast<uint8_t>(pattern);
      arrays.rpp[at.lists] = static_cast<Pointer>(at.columns);
      arrays.npp[at.lists] = static_cast<Pointer>(at.nonzeros);
      at = at + ListCounts{1, length, static_cast<uint64_t>(length) * popcount(pattern)};
      left -= length;
    }
  }
  source.visit(shape.first_row(row_tile), shape.rows_in(row_tile),
               [&](int64_t column, uint64_t mask, const auto& value_of) {
                 *next_column[mask]++ = static_cast<Column>(column);
                 Element* value = next_value[mask];
                 for (uint64_t rows = mask; rows != 0; rows &= rows - 1) {
                   *value++ = value_of(lowest_set(rows));
                 }
                 next_value[mask] = value;
               });
}

template <typename Column, typename Pointer, typename Element>
void end_lists(const ListCounts& counts, const ListArrays<Column, Pointer, Element>& arrays) {
  arrays.rpp[counts.lists] = static_cast<Pointer>(counts.columns);
  arrays.npp[counts.lists] = static_cast<Pointer>(counts.nonzeros);
}

/// Writes what the row tiles leave: the ends of RPP and NPP, zeros between the sections, and the header.
template <typename Element>
void seal(const ListFormat& format, void* packed) {
  with_arrays<Element>(format, packed, [&format](const auto& arrays) { end_lists(format.counts, arrays); });
  unsigned char* const bytes = static_cast<unsigned char*>(packed);
  for (const Section& section : format.sections) {
    memset(bytes + section.end(), 0, static_cast<size_t>(round_up(section.end(), section_alignment) - section.end()));
  }
  write_header(format, bytes);
}

/// Packs A into `packed`, format.bytes bytes aligned to 8. False, and nothing promised of `packed`, when A does not
/// have the counts of the format; nothing is ever written outside it.
template <typename Source>
bool pack_serially(const Source& source, const ListFormat& format, void* packed) {
  using Element = typename Source::ElementType;
  ListCounts at;
  bool inside = true;
  with_arrays<Element>(format, packed, [&](const auto& arrays) {
    for (int64_t row_tile = 0; inside && row_tile < format.shape.row_tiles(); ++row_tile) {
      const PatternCounts counts = count_patterns(source, format.shape, row_tile);
      const ListCounts end = at + total(counts, format.shape);
      inside = fits(end, format.counts);
      if (inside) {
        fill_row_tile(source, format.shape, row_tile, counts, at, arrays);
        at = end;
      }
    }
  });
  if (!inside || !(describe(format.shape, at) == format)) {
    return false;
  }
  seal<Element>(format, packed);
  return true;
}

// [packing text ends]
}  // namespace esc::transformer
