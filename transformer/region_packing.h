#pragma once

// Packing into regions, one set of panels at a time. As in packed_bytes.h, the text between the markers is part of the
// generated transformers of kernels that read regions.

#include "transformer/panel_sources.h"
#include "transformer/region_format.h"

namespace esc::transformer {
// [packing text begins]

// ---------------------------------------------------------------------------------------------------------------------
// Packing into regions. The panels of a set are counted, which says how many steps the regions of their warps have, and
// then written column by column.
// ---------------------------------------------------------------------------------------------------------------------

inline constexpr uint32_t max_warp_panels = 32;  ///< lane groups of a warp

/// How much one panel has.
template <typename Source>
RegionCounts count_panel(const Source& source, const RegionShape& shape, int64_t panel) {
  RegionCounts counts;
  source.visit(shape.first_row(panel), shape.rows_in(panel), [&counts](int64_t, uint64_t mask, const auto&) {
    ++counts.columns;
    counts.nonzeros += popcount(mask);
  });
  counts.widest_panel = counts.columns;
  return counts;
}

constexpr RegionCounts operator+(const RegionCounts& a, const RegionCounts& b) {
  return {a.nonzeros + b.nonzeros, a.columns + b.columns,
          a.widest_panel > b.widest_panel ? a.widest_panel : b.widest_panel};
}

/// Where the columns and the values of one lane group of one region are written.
template <typename Column, typename Element>
struct GroupWriter {
  unsigned char* quads;
  uint32_t group;
  const RegionFormat* format;

  Column* column_at(uint64_t step) const {
    return reinterpret_cast<Column*>(quads + step / quad_steps * format->quad_bytes) + group * quad_steps +
           step % quad_steps;
  }
  Element* value_at(uint64_t step, uint32_t row) const {
    const uint32_t number = static_cast<uint32_t>(step % quad_steps) * format->shape.height + row;
    const uint64_t block = static_cast<uint64_t>(number / quad_steps) * format->shape.warp_groups() + group;
    return reinterpret_cast<Element*>(quads + step / quad_steps * format->quad_bytes + format->column_bytes) +
           block * quad_steps + number % quad_steps;
  }
};

/// Writes the regions of one set of panels. `panel_columns` are the columns of each of its panels, 0 behind the last.
template <typename Column, typename Source>
void fill_set(const Source& source, const RegionFormat& format, int64_t set, const uint64_t* panel_columns,
              unsigned char* packed) {
  using Element = typename Source::ElementType;
  const RegionShape& shape = format.shape;
  memset(packed + format.region_at(set, 0), 0, static_cast<size_t>(shape.warps * format.region_bytes));
  uint64_t widest = 0;
  for (uint32_t p = 0; p < shape.warp_panels; ++p) {
    widest = panel_columns[p] > widest ? panel_columns[p] : widest;
  }
  for (uint32_t warp = 0; warp < shape.warps; ++warp) {
    const uint64_t longest = columns_of_part(widest, warp * shape.groups, shape.parts());
    const uint32_t steps = static_cast<uint32_t>(round_up(longest, shape.multiple));
    memcpy(packed + format.region_at(set, warp), &steps, sizeof steps);
  }
  for (uint32_t p = 0; p < shape.warp_panels; ++p) {
    const auto writer = [&](uint32_t part) {
      return GroupWriter<Column, Element>{packed + format.region_at(set, part / shape.groups) + region_head_bytes,
                                          p * shape.groups + part % shape.groups, &format};
    };
    const int64_t panel = set * shape.warp_panels + p;
    if (panel_columns[p] != 0) {
      uint64_t index = 0;
      source.visit(shape.first_row(panel), shape.rows_in(panel),
                   [&](int64_t column, uint64_t mask, const auto& value_of) {
                     const auto group = writer(static_cast<uint32_t>(index % shape.parts()));
                     const uint64_t step = index / shape.parts();
                     *group.column_at(step) = static_cast<Column>(column);
                     for (uint64_t rows = mask; rows != 0; rows &= rows - 1) {
                       const int row = lowest_set(rows);
                       *group.value_at(step, static_cast<uint32_t>(row)) = value_of(row);
                     }
                     ++index;
                   });
    }
    for (uint32_t part = 0; part < shape.parts(); ++part) {
      const uint64_t own = columns_of_part(panel_columns[p], part, shape.parts());
      uint32_t steps;
      memcpy(&steps, packed + format.region_at(set, part / shape.groups), sizeof steps);
      for (uint64_t step = own; own != 0 && step < steps; ++step) {
        *writer(part).column_at(step) = *writer(part).column_at(own - 1);
      }
    }
  }
}

/// Packs one set of panels; returns what it has. Writes nothing when a panel has more columns than the format has room for.
template <typename Source>
RegionCounts pack_set(const Source& source, const RegionFormat& format, int64_t set, void* packed) {
  const RegionShape& shape = format.shape;
  uint64_t panel_columns[max_warp_panels] = {};
  RegionCounts counts;
  for (uint32_t p = 0; p < shape.warp_panels && set * shape.warp_panels + p < shape.panels(); ++p) {
    const RegionCounts panel = count_panel(source, shape, set * shape.warp_panels + p);
    panel_columns[p] = panel.columns;
    counts = counts + panel;
  }
  if (counts.widest_panel <= format.counts.widest_panel) {
    unsigned char* const bytes = static_cast<unsigned char*>(packed);
    if (format.column == ScalarType::u16) {
      fill_set<uint16_t>(source, format, set, panel_columns, bytes);
    } else {
      fill_set<uint32_t>(source, format, set, panel_columns, bytes);
    }
  }
  return counts;
}

/// Writes the header, after the regions.
inline void seal(const RegionFormat& format, void* packed) {
  write_header(format, static_cast<unsigned char*>(packed));
}

/// Packs A into `packed`, format.bytes bytes aligned to 8. False, and nothing promised of `packed`, when A does not
/// have the counts of the format; nothing is ever written outside it.
template <typename Source>
bool pack_serially(const Source& source, const RegionFormat& format, void* packed) {
  RegionCounts counts;
  for (int64_t set = 0; set < format.shape.panel_sets(); ++set) {
    counts = counts + pack_set(source, format, set, packed);
    if (counts.widest_panel > format.counts.widest_panel) {
      return false;
    }
  }
  if (!(counts == format.counts)) {
    return false;
  }
  seal(format, packed);
  return true;
}

// [packing text ends]
}  // namespace esc::transformer
