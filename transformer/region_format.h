#pragma once

// The packed format of regions: what is stored where. As in packed_bytes.h, the text between the markers is part of the
// generated transformers of kernels that read it.

#include "transformer/packed_bytes.h"

namespace esc::transformer {
// [packing text begins]

// ---------------------------------------------------------------------------------------------------------------------
// The packed format of regions.
//
// A row panel is `height` consecutive rows; rows that the last panel lacks count as zero. The columns of a panel are
// those in which any of its rows is non-zero, ascending; a row that is zero there has an explicit zero. They are dealt in
// turn to `warps` x `groups` parts: column i of the panel goes to part i % (warps * groups), that is to lane group
// part % groups of warp part / groups. A warp has a place for `warp_panels` panels beside each other, and `warps` warps
// work on the same panels; a thread block owns `block_panels` panels.
//
// A region is what one warp reads. Region (r, w) belongs to panels r * warp_panels .. and to warp w of those that share
// them; it stands at header_bytes + (r * warps + w) * region_bytes, so that its address is known without reading
// anything. All regions have the same size, a multiple of 128 bytes:
//
//   uint32 steps      columns of a lane group, a multiple of `multiple`, the same for all groups of the region
//   12 zero bytes
//   quads             steps / 4 of them, for four steps each; quads that are left over are zero
//     columns         [lane group][4], 16 or 32 bits wide, filled up with zeros to 16 bytes where they are fewer
//     values          height x [lane group][4]: number step * height + row of the quad, counted from 0, stands in block
//                     number / 4 at place number % 4
//
// Lane group panel * groups + g of the region is group g of its panel. Steps behind a group's own columns have zeros for
// values and repeat the group's last column (0 where it has none).
// ---------------------------------------------------------------------------------------------------------------------

inline constexpr uint32_t region_format_version = 1;
inline constexpr uint32_t region_alignment = 128;  ///< of regions: asynchronous copies want equal places modulo 128
inline constexpr uint32_t region_head_bytes = 16;
inline constexpr uint32_t quad_steps = 4;

/// What is decided before the non-zeros are looked at.
struct RegionShape {
  int64_t rows = 0;
  int64_t columns = 0;
  uint32_t height = 0;        ///< rows of a panel (the paper's UFi), 1 to max_height
  uint32_t warps = 0;         ///< warps that share a panel
  uint32_t groups = 0;        ///< lane groups of a warp that share a panel
  uint32_t warp_panels = 0;   ///< panels of a warp
  uint32_t block_panels = 0;  ///< panels of a thread block, a multiple of warp_panels
  uint32_t multiple = 0;      ///< of which the steps are one, itself a multiple of quad_steps
  ScalarType element = ScalarType::f32;

  constexpr int64_t panels() const { return (rows + height - 1) / height; }
  constexpr int64_t first_row(int64_t panel) const { return panel * height; }
  constexpr uint32_t rows_in(int64_t panel) const {
    const int64_t left = rows - first_row(panel);
    return left < height ? static_cast<uint32_t>(left) : height;
  }
  constexpr int64_t blocks() const { return (panels() + block_panels - 1) / block_panels; }
  /// Sets of panels that stand beside each other in a warp; whole thread blocks of them.
  constexpr int64_t panel_sets() const { return blocks() * (block_panels / warp_panels); }
  constexpr int64_t regions() const { return panel_sets() * warps; }
  constexpr uint32_t parts() const { return warps * groups; }
  constexpr uint32_t warp_groups() const { return warp_panels * groups; }
};

constexpr bool operator==(const RegionShape& a, const RegionShape& b) {
  return a.rows == b.rows && a.columns == b.columns && a.height == b.height && a.warps == b.warps &&
         a.groups == b.groups && a.warp_panels == b.warp_panels && a.block_panels == b.block_panels &&
         a.multiple == b.multiple && a.element == b.element;
}

/// How much there is in all panels.
struct RegionCounts {
  uint64_t nonzeros = 0;
  uint64_t columns = 0;         ///< of all panels together
  uint64_t widest_panel = 0;    ///< columns of the panel that has most
};

constexpr bool operator==(const RegionCounts& a, const RegionCounts& b) {
  return a.nonzeros == b.nonzeros && a.columns == b.columns && a.widest_panel == b.widest_panel;
}

/// The whole description of a packed matrix; packer, unpacker and kernel read sizes and places from it alone.
struct RegionFormat {
  RegionShape shape;
  RegionCounts counts;
  ScalarType column = ScalarType::u16;
  uint32_t column_bytes = 0;  ///< of the columns of a quad, with what fills them up
  uint32_t quad_bytes = 0;
  uint64_t region_bytes = 0;
  uint64_t bytes = 0;  ///< of the whole, header included

  constexpr uint64_t most_steps() const { return (region_bytes - region_head_bytes) / quad_bytes * quad_steps; }
  constexpr uint64_t region_at(int64_t set, uint32_t warp) const {
    return header_bytes + (static_cast<uint64_t>(set) * shape.warps + warp) * region_bytes;
  }
};

constexpr bool operator==(const RegionFormat& a, const RegionFormat& b) {
  return a.shape == b.shape && a.counts == b.counts && a.column == b.column && a.column_bytes == b.column_bytes &&
         a.quad_bytes == b.quad_bytes && a.region_bytes == b.region_bytes && a.bytes == b.bytes;
}

constexpr uint64_t round_up(uint64_t value, uint64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

/// Columns of part `part` of a panel with this many columns.
constexpr uint64_t columns_of_part(uint64_t columns, uint32_t part, uint32_t parts) {
  return columns > part ? (columns - part + parts - 1) / parts : 0;
}

/// The format that a matrix of this shape and with these counts has.
constexpr RegionFormat describe(const RegionShape& shape, const RegionCounts& counts) {
  RegionFormat format;
  format.shape = shape;
  format.counts = counts;
  format.column = shape.columns <= 65536 ? ScalarType::u16 : ScalarType::u32;
  format.column_bytes =
      static_cast<uint32_t>(round_up(shape.warp_groups() * quad_steps * size_of(format.column), 16));
  format.quad_bytes =
      format.column_bytes + static_cast<uint32_t>(shape.warp_groups() * quad_steps * shape.height * size_of(shape.element));
  const uint64_t steps = round_up(columns_of_part(counts.widest_panel, 0, shape.parts()), shape.multiple);
  const uint64_t quads = (steps == 0 ? shape.multiple : steps) / quad_steps;
  format.region_bytes = round_up(region_head_bytes + quads * format.quad_bytes, region_alignment);
  format.bytes = header_bytes + static_cast<uint64_t>(shape.regions()) * format.region_bytes;
  return format;
}

/// The first 256 bytes of a packed matrix.
struct RegionHeader {
  unsigned char magic[8];
  uint32_t version;
  uint32_t header_bytes;
  uint64_t total_bytes;
  uint64_t rows;
  uint64_t columns;
  uint64_t nonzeros;
  uint64_t panel_columns;
  uint64_t widest_panel;
  uint64_t region_bytes;
  uint32_t height;
  uint32_t warps;
  uint32_t groups;
  uint32_t warp_panels;
  uint32_t block_panels;
  uint32_t multiple;
  uint32_t column_type;
  uint32_t element_type;
  uint64_t payload_checksum;  ///< of everything after the header
  unsigned char reserved[136];
  uint64_t header_checksum;  ///< of the bytes before it
};
static_assert(sizeof(RegionHeader) == header_bytes, "the header has 256 bytes and no padding of the compiler's");

inline constexpr char region_magic_text[9] = "ESCREGN\x1a";

/// Every field of the header in order, without a gap.
inline constexpr HeaderField region_header_fields[] = {
    {"magic", offsetof(RegionHeader, magic), 8},
    {"version", offsetof(RegionHeader, version), 4},
    {"header_bytes", offsetof(RegionHeader, header_bytes), 4},
    {"total_bytes", offsetof(RegionHeader, total_bytes), 8},
    {"rows", offsetof(RegionHeader, rows), 8},
    {"columns", offsetof(RegionHeader, columns), 8},
    {"nonzeros", offsetof(RegionHeader, nonzeros), 8},
    {"panel_columns", offsetof(RegionHeader, panel_columns), 8},
    {"widest_panel", offsetof(RegionHeader, widest_panel), 8},
    {"region_bytes", offsetof(RegionHeader, region_bytes), 8},
    {"height", offsetof(RegionHeader, height), 4},
    {"warps", offsetof(RegionHeader, warps), 4},
    {"groups", offsetof(RegionHeader, groups), 4},
    {"warp_panels", offsetof(RegionHeader, warp_panels), 4},
    {"block_panels", offsetof(RegionHeader, block_panels), 4},
    {"multiple", offsetof(RegionHeader, multiple), 4},
    {"column_type", offsetof(RegionHeader, column_type), 4},
    {"element_type", offsetof(RegionHeader, element_type), 4},
    {"payload_checksum", offsetof(RegionHeader, payload_checksum), 8},
    {"reserved", offsetof(RegionHeader, reserved), 136},
    {"header_checksum", offsetof(RegionHeader, header_checksum), 8},
};

/// The header of a matrix of this format whose regions have this checksum.
inline RegionHeader make_header(const RegionFormat& format, uint64_t payload_checksum) {
  auto header = begin_header<RegionHeader>(region_magic_text, region_format_version, format);
  header.panel_columns = format.counts.columns;
  header.widest_panel = format.counts.widest_panel;
  header.region_bytes = format.region_bytes;
  header.height = format.shape.height;
  header.warps = format.shape.warps;
  header.groups = format.shape.groups;
  header.warp_panels = format.shape.warp_panels;
  header.block_panels = format.shape.block_panels;
  header.multiple = format.shape.multiple;
  header.column_type = static_cast<uint32_t>(format.column);
  header.element_type = static_cast<uint32_t>(format.shape.element);
  return end_header(header, payload_checksum);
}

/// The first field in which two headers differ, or null.
inline const HeaderField* first_difference(const RegionHeader& a, const RegionHeader& b) {
  return first_difference(region_header_fields, &a, &b);
}

// [packing text ends]
}  // namespace esc::transformer
