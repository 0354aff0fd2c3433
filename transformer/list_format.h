// SPDX-License-Identifier: Apache-2.0
#pragma once

// The packed format of lists: what is stored where. As in packed_bytes.h, the text between the markers is part of the
// generated transformers of kernels that read it.

#include "transformer/description.h"

namespace esc::transformer {
// [packing text begins]

// ---------------------------------------------------------------------------------------------------------------------
// The packed format of lists.
//
// The pattern of a column in a row tile is a bit mask: bit r is set where row r of the row tile is non-zero. The
// columns of one row tile that share a pattern form a list. Lists are in the order (row tile, pattern), columns ascend
// within a list, no list is empty, and a list that would exceed `max_list_columns` goes on in a further list of the
// same row tile and pattern.
//
//   Row tiles[l], Patterns[l]   row tile and pattern of list l
//   RPP[l] .. RPP[l + 1]     its columns in Cols
//   NPP[l] .. NPP[l + 1]     its values in ANNZ: ANNZ[NPP[l] + c * popcount(pattern) + r] is the value in the r-th set
//                            row of the pattern, at column Cols[RPP[l] + c]
//
// The header precedes these six sections. Each begins at a multiple of 256 bytes, and gaps are zero.
// ---------------------------------------------------------------------------------------------------------------------

inline constexpr uint32_t section_count = 6;

/// How a matrix is cut into lists.
struct ListCut {
  uint32_t height = 4;               ///< rows of a row tile (the paper's UFi)
  uint32_t max_list_columns = 1024;  ///< bounds how many products one float32 sum runs over, and a list's work

  static constexpr Rule elements = any_elements;

  constexpr uint32_t patterns() const { return 1u << height; }
  template <typename Visit>
  constexpr void visit_cut(const Visit& visit) {
    visit("height", height, between(1, max_height));
    visit("max_list_columns", max_list_columns, between(1, 0xffffffffu));
  }
};

using ListShape = Shape<ListCut>;

/// How much there is: of one row tile, of all, or of all row tiles before one, which is where that row tile starts.
struct ListCounts {
  uint64_t lists = 0;
  uint64_t columns = 0;  ///< entries of Cols
  uint64_t nonzeros = 0;

  template <typename Visit>
  constexpr void visit(const ListShape&, const Visit& visit) {
    visit("nonzeros", nonzeros, between(0, max_count));
    visit("listed_columns", columns, between(0, nonzeros));
    visit("lists", lists, between(0, columns));
  }
};

constexpr ListCounts operator+(const ListCounts& a, const ListCounts& b) {
  return {a.lists + b.lists, a.columns + b.columns, a.nonzeros + b.nonzeros};
}

/// No count of `part` exceeds that of `whole`.
constexpr bool fits(const ListCounts& part, const ListCounts& whole) {
  return part.lists <= whole.lists && part.columns <= whole.columns && part.nonzeros <= whole.nonzeros;
}

/// The sections in the order in which they are stored.
enum class SectionId : uint32_t { row_tiles, patterns, rpp, npp, cols, annz };

struct Section {
  const char* name = "";  ///< fixed by the position of the section
  ScalarType type = ScalarType::u8;
  uint64_t count = 0;   ///< elements
  uint64_t offset = 0;  ///< bytes from the start of the header

  constexpr uint64_t end() const { return at(count); }
  constexpr uint64_t at(uint64_t index) const { return offset + index * size_of(type); }
};

/// The whole description of a packed matrix; packer, unpacker and kernel read sizes, types and places from it alone.
struct ListFormat : Description<ListCut, ListCounts> {
  static constexpr char magic[9] = "ESCPACK\x1a";
  static constexpr uint32_t version = 2;

  Section sections[section_count];
  uint64_t bytes = 0;  ///< of the whole, header included; a multiple of section_alignment

  constexpr const Section& section(SectionId id) const { return sections[static_cast<uint32_t>(id)]; }
};

/// The format that a matrix of this shape and with these counts has.
constexpr ListFormat describe(const ListShape& shape, const ListCounts& counts) {
  const ScalarType column = shape.columns <= 65536 ? ScalarType::u16 : ScalarType::u32;
  const ScalarType pointer = counts.nonzeros <= 0xffffffffu ? ScalarType::u32 : ScalarType::u64;
  ListFormat format{{shape, counts},
                    {{"Panels", ScalarType::u32, counts.lists, 0},
                     {"Patterns", ScalarType::u8, counts.lists, 0},
                     {"RPP", pointer, counts.lists + 1, 0},
                     {"NPP", pointer, counts.lists + 1, 0},
                     {"Cols", column, counts.columns, 0},
                     {"ANNZ", shape.element, counts.nonzeros, 0}},
                    header_bytes};
  for (Section& section : format.sections) {
    section.offset = format.bytes;
    format.bytes = round_up(section.end(), section_alignment);
  }
  return format;
}

// [packing text ends]
}  // namespace esc::transformer
