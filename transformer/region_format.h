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
// The columns of a panel are those in which any of its rows is non-zero, ascending; a row that is zero there has an
// explicit zero. Four columns are a quad; what the last quad of a panel lacks repeats its last column, with zeros for
// values.
//
// Panels of about the same length are a class, and all panels of a class are stored with the quads of its longest: the
// address of a panel follows from its place and a few constants, without reading anything. The longest class stands
// first, and in a class the panels in the order of their rows. A warp has a place for `warp_panels` panels beside each
// other, a set; a class is whole sets, and places that are left over have no panel: their bytes are zero.
// A thread block owns block_panels / warp_panels sets. Set s belongs to block s % blocks, so that each has long and
// short ones.
//
//   columns   at header_bytes, [quad][4], 16 or 32 bits wide: the quads of all places, one panel behind the other
//   values    at the next multiple of 128, [quad][4][height]
//   numbers   [place], 16 or 32 bits wide: which panel stands there, and the number of panels where there is none; for
//             the places of whole blocks. Left out when there is one class, as the panels then stand in their order
//
// Where the panels lack few columns they are stored with every column of the matrix, and no columns are written: quad q
// of a panel has the columns 4 * q .. 4 * q + 3. What lies between the sections is zero.
// ---------------------------------------------------------------------------------------------------------------------

inline constexpr uint32_t values_alignment = 128;  ///< asynchronous copies want equal places modulo 128
inline constexpr uint32_t quad_columns = 4;
inline constexpr uint32_t max_region_classes = 8;

/// How a matrix is cut into regions.
struct RegionCut {
  uint32_t height = 1;        ///< rows of a panel (the paper's UFi)
  uint32_t warp_panels = 1;   ///< panels of a set
  uint32_t block_panels = 1;  ///< panels of a thread block

  static constexpr Rule elements = any_elements;

  constexpr uint32_t block_sets() const { return block_panels / warp_panels; }
  template <typename Visit>
  constexpr void visit_cut(const Visit& visit) {
    visit("height", height, between(1, max_height));
    visit("warp_panels", warp_panels, power_of_two(32));
    visit("block_panels", block_panels, multiple_of(warp_panels, 65536));
  }
};

using RegionShape = Shape<RegionCut>;

/// Quads that so many columns fill.
constexpr uint64_t quads_of(uint64_t columns) { return (columns + quad_columns - 1) / quad_columns; }

/// Panels that are stored with equally many quads.
struct RegionClass {
  uint32_t quads;  ///< of each panel
  uint32_t panels;
};

/// How much there is in all panels.
struct RegionCounts {
  uint64_t nonzeros = 0;
  uint64_t columns = 0;                          ///< of all panels together
  bool every_column = false;                     ///< whether panels are stored with every column of the matrix
  uint32_t class_count = 0;                      ///< 1 to max_region_classes
  RegionClass classes[max_region_classes] = {};  ///< quads descend

  template <typename Visit>
  constexpr void visit(const RegionShape& shape, const Visit& visit) {
    visit("nonzeros", nonzeros, between(0, max_count));
    visit("panel_columns", columns, between(0, nonzeros));
    visit("every_column", every_column, between(0, 1));
    visit("class_count", class_count, between(1, max_region_classes));
    uint64_t left = static_cast<uint64_t>(shape.panels());
    for (uint32_t number = 0; number < class_count; ++number) {
      RegionClass& one = classes[number];
      visit("quads of a class", one.quads, between(0, quads_of(static_cast<uint64_t>(shape.columns))));
      const uint64_t most = max_count / (one.quads + uint64_t{1});
      visit("panels of a class", one.panels, between(number + 1 == class_count ? left : 1, left < most ? left : most));
      left -= one.panels;
    }
  }
};

/// The whole description of a packed matrix; packer, unpacker and kernel read sizes and places from it alone.
struct RegionFormat : Description<RegionCut, RegionCounts> {
  static constexpr char magic[9] = "ESCREGN\x1a";
  static constexpr uint32_t version = 3;

  ScalarType column = ScalarType::u16;
  ScalarType number = ScalarType::u16;
  uint64_t first_set[max_region_classes + 1] = {};   ///< of each class; behind the last one, the sets there are
  uint64_t first_quad[max_region_classes + 1] = {};  ///< of each class; behind the last one, the quads there are
  uint64_t values_at = 0;
  uint64_t numbers_at = 0;
  uint64_t bytes = 0;  ///< of the whole, header included

  constexpr uint64_t sets() const { return first_set[counts.class_count]; }
  constexpr uint64_t quads() const { return first_quad[counts.class_count]; }
  constexpr uint64_t blocks() const { return (sets() + shape.block_sets() - 1) / shape.block_sets(); }
  constexpr uint64_t block_places() const { return blocks() * shape.block_panels; }
  /// The block that works on a place.
  constexpr uint64_t block_of(uint64_t place) const { return place / shape.warp_panels % blocks(); }
  constexpr bool has_numbers() const { return counts.class_count > 1; }

  /// The class of panels with so many columns; class_count when none is long enough.
  constexpr uint32_t class_of_columns(uint64_t columns) const {
    uint32_t index = 0;
    while (index < counts.class_count && columns <= uint64_t{quad_columns} * counts.classes[index].quads) {
      ++index;
    }
    return index == 0 ? counts.class_count : index - 1;
  }
  /// The first place of a class, of which there is one behind the last too.
  constexpr uint64_t first_place(uint32_t index) const { return first_set[index] * shape.warp_panels; }
  /// The class that a place below first_place(class_count) belongs to.
  constexpr uint32_t class_of_place(uint64_t place) const {
    uint32_t index = 0;
    while (first_place(index + 1) <= place) {
      ++index;
    }
    return index;
  }
  /// The first quad of a place of a class.
  constexpr uint64_t quad_of(uint32_t index, uint64_t place) const {
    return first_quad[index] + (place - first_place(index)) * counts.classes[index].quads;
  }
  /// Where the columns and the values of a quad are, and the number at a place.
  constexpr uint64_t columns_of(uint64_t quad) const { return header_bytes + quad * quad_columns * size_of(column); }
  constexpr uint64_t values_of(uint64_t quad) const {
    return values_at + quad * quad_columns * shape.height * size_of(shape.element);
  }
  constexpr uint64_t number_of(uint64_t place) const { return numbers_at + place * size_of(number); }
};

/// The format that a matrix of this shape and with these counts has.
constexpr RegionFormat describe(const RegionShape& shape, const RegionCounts& counts) {
  RegionFormat format;
  format.shape = shape;
  format.counts = counts;
  format.column = shape.columns <= 65536 ? ScalarType::u16 : ScalarType::u32;
  format.number = shape.panels() < 65536 ? ScalarType::u16 : ScalarType::u32;
  for (uint32_t number = 0; number < counts.class_count; ++number) {
    const RegionClass& one = counts.classes[number];
    const uint64_t places = round_up(one.panels, shape.warp_panels);
    format.first_set[number + 1] = format.first_set[number] + places / shape.warp_panels;
    format.first_quad[number + 1] = format.first_quad[number] + places * one.quads;
  }
  const uint64_t columns_end = format.columns_of(counts.every_column ? 0 : format.quads());
  format.values_at = round_up(columns_end, values_alignment);
  format.numbers_at = format.values_of(format.quads());
  format.bytes = round_up(format.number_of(format.has_numbers() ? format.block_places() : 0), 8);
  return format;
}

// [packing text ends]
}  // namespace esc::transformer
