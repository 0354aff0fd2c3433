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
// those in which any of its rows is non-zero, ascending; a row that is zero there has an explicit zero. Four columns
// are a quad; what the last quad of a panel lacks repeats its last column, with zeros for values.
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

inline constexpr uint32_t region_format_version = 2;
inline constexpr uint32_t values_alignment = 128;  ///< asynchronous copies want equal places modulo 128
inline constexpr uint32_t quad_columns = 4;
inline constexpr uint32_t max_region_classes = 8;

/// What is decided before the non-zeros are looked at.
struct RegionShape {
  int64_t rows = 0;
  int64_t columns = 0;
  uint32_t height = 0;        ///< rows of a panel (the paper's UFi), 1 to max_height
  uint32_t warp_panels = 0;   ///< panels of a set
  uint32_t block_panels = 0;  ///< panels of a thread block, a multiple of warp_panels
  ScalarType element = ScalarType::f32;

  constexpr int64_t panels() const { return (rows + height - 1) / height; }
  constexpr int64_t first_row(int64_t panel) const { return panel * height; }
  constexpr uint32_t rows_in(int64_t panel) const {
    const int64_t left = rows - first_row(panel);
    return left < height ? static_cast<uint32_t>(left) : height;
  }
  constexpr uint32_t block_sets() const { return block_panels / warp_panels; }
  /// Quads of a panel that is stored with every column.
  constexpr uint32_t all_quads() const { return static_cast<uint32_t>((columns + quad_columns - 1) / quad_columns); }
};

constexpr bool operator==(const RegionShape& a, const RegionShape& b) {
  return a.rows == b.rows && a.columns == b.columns && a.height == b.height && a.warp_panels == b.warp_panels &&
         a.block_panels == b.block_panels && a.element == b.element;
}

/// Panels that are stored with equally many quads.
struct RegionClass {
  uint32_t quads;  ///< of each panel
  uint32_t panels;
};

constexpr bool operator==(const RegionClass& a, const RegionClass& b) {
  return a.quads == b.quads && a.panels == b.panels;
}

/// How much there is in all panels.
struct RegionCounts {
  uint64_t nonzeros = 0;
  uint64_t columns = 0;                          ///< of all panels together
  bool every_column = false;                     ///< whether panels are stored with every column of the matrix
  uint32_t class_count = 0;                      ///< 1 to max_region_classes
  RegionClass classes[max_region_classes] = {};  ///< quads descend
};

constexpr bool operator==(const RegionCounts& a, const RegionCounts& b) {
  bool equal = a.nonzeros == b.nonzeros && a.columns == b.columns && a.every_column == b.every_column &&
               a.class_count == b.class_count;
  for (uint32_t number = 0; number < max_region_classes; ++number) {
    equal = equal && a.classes[number] == b.classes[number];
  }
  return equal;
}

constexpr uint64_t round_up(uint64_t value, uint64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

/// The whole description of a packed matrix; packer, unpacker and kernel read sizes and places from it alone.
struct RegionFormat {
  RegionShape shape;
  RegionCounts counts;
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

constexpr bool operator==(const RegionFormat& a, const RegionFormat& b) {
  return a.shape == b.shape && a.counts == b.counts && a.bytes == b.bytes;
}

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
  uint32_t height;
  uint32_t warp_panels;
  uint32_t block_panels;
  uint32_t every_column;  ///< 0 or 1
  uint32_t column_type;
  uint32_t number_type;
  uint32_t element_type;
  uint32_t class_count;
  RegionClass classes[max_region_classes];
  uint64_t payload_checksum;  ///< of everything after the header
  unsigned char reserved[88];
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
    {"height", offsetof(RegionHeader, height), 4},
    {"warp_panels", offsetof(RegionHeader, warp_panels), 4},
    {"block_panels", offsetof(RegionHeader, block_panels), 4},
    {"every_column", offsetof(RegionHeader, every_column), 4},
    {"column_type", offsetof(RegionHeader, column_type), 4},
    {"number_type", offsetof(RegionHeader, number_type), 4},
    {"element_type", offsetof(RegionHeader, element_type), 4},
    {"class_count", offsetof(RegionHeader, class_count), 4},
    {"classes", offsetof(RegionHeader, classes), sizeof(RegionHeader::classes)},
    {"payload_checksum", offsetof(RegionHeader, payload_checksum), 8},
    {"reserved", offsetof(RegionHeader, reserved), 88},
    {"header_checksum", offsetof(RegionHeader, header_checksum), 8},
};

/// The header of a matrix of this format whose payload has this checksum.
inline RegionHeader make_header(const RegionFormat& format, uint64_t payload_checksum) {
  auto header = begin_header<RegionHeader>(region_magic_text, region_format_version, format);
  header.panel_columns = format.counts.columns;
  header.height = format.shape.height;
  header.warp_panels = format.shape.warp_panels;
  header.block_panels = format.shape.block_panels;
  header.every_column = format.counts.every_column ? 1 : 0;
  header.column_type = static_cast<uint32_t>(format.column);
  header.number_type = static_cast<uint32_t>(format.number);
  header.element_type = static_cast<uint32_t>(format.shape.element);
  header.class_count = format.counts.class_count;
  memcpy(header.classes, format.counts.classes, sizeof header.classes);
  return end_header(header, payload_checksum);
}

/// The first field in which two headers differ, or null.
inline const HeaderField* first_difference(const RegionHeader& a, const RegionHeader& b) {
  return first_difference(region_header_fields, &a, &b);
}

// [packing text ends]
}  // namespace esc::transformer
