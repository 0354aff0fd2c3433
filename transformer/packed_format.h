#pragma once

// The packed format of lists: what is stored where. As in packed_bytes.h, the text between the markers is part of the
// generated transformers of kernels that read it.

#include "transformer/packed_bytes.h"

namespace esc::transformer {
// [packing text begins]

// ---------------------------------------------------------------------------------------------------------------------
// The packed format.
//
// A row panel is `height` consecutive rows; rows that the last panel lacks count as zero. The pattern of a column in a
// panel is a bit mask: bit r is set where row r of the panel is non-zero. The columns of one panel that share a pattern
// form a list. Lists stand in the order (panel, pattern), columns ascend within a list, no list is empty, and a list
// that would exceed `max_list_columns` goes on in a further list of the same panel and pattern.
//
//   Panels[l], Patterns[l]   panel and pattern of list l
//   RPP[l] .. RPP[l + 1]     its columns in Cols
//   NPP[l] .. NPP[l + 1]     its values in ANNZ: ANNZ[NPP[l] + c * popcount(pattern) + r] is the value in the r-th set
//                            row of the pattern, at column Cols[RPP[l] + c]
//
// A header of 256 bytes precedes these six sections. Each begins at a multiple of 256 bytes, gaps are zero, everything
// is little-endian, and the same bytes are the file, the host buffer and the device buffer.
// ---------------------------------------------------------------------------------------------------------------------

inline constexpr uint32_t format_version = 1;
inline constexpr uint32_t section_count = 6;

/// What is decided before the non-zeros are looked at: A is rows x columns, cut into panels of `height` rows.
struct PackedShape {
  int64_t rows = 0;
  int64_t columns = 0;
  uint32_t height = 0;            ///< rows of a panel (the paper's UFi), 1 to max_height
  uint32_t max_list_columns = 0;  ///< longest list, at least 1
  ScalarType element = ScalarType::f32;

  constexpr int64_t panels() const { return (rows + height - 1) / height; }
  constexpr int64_t first_row(int64_t panel) const { return panel * height; }
  constexpr uint32_t rows_in(int64_t panel) const {
    const int64_t left = rows - first_row(panel);
    return left < height ? static_cast<uint32_t>(left) : height;
  }
  constexpr uint32_t patterns() const { return 1u << height; }
};

constexpr bool operator==(const PackedShape& a, const PackedShape& b) {
  return a.rows == b.rows && a.columns == b.columns && a.height == b.height &&
         a.max_list_columns == b.max_list_columns && a.element == b.element;
}

/// How much there is: of one panel, of all, or of all panels before one, which is where that panel starts.
struct PackedCounts {
  uint64_t lists = 0;
  uint64_t columns = 0;  ///< entries of Cols
  uint64_t nonzeros = 0;
};

constexpr bool operator==(const PackedCounts& a, const PackedCounts& b) {
  return a.lists == b.lists && a.columns == b.columns && a.nonzeros == b.nonzeros;
}

constexpr PackedCounts operator+(const PackedCounts& a, const PackedCounts& b) {
  return {a.lists + b.lists, a.columns + b.columns, a.nonzeros + b.nonzeros};
}

/// No count of `part` exceeds that of `whole`.
constexpr bool fits(const PackedCounts& part, const PackedCounts& whole) {
  return part.lists <= whole.lists && part.columns <= whole.columns && part.nonzeros <= whole.nonzeros;
}

/// The sections in the order in which they are stored.
enum class SectionId : uint32_t { panels, patterns, rpp, npp, cols, annz };

struct Section {
  const char* name = "";  ///< fixed by the position of the section
  ScalarType type = ScalarType::u8;
  uint64_t count = 0;   ///< elements
  uint64_t offset = 0;  ///< bytes from the start of the header

  constexpr uint64_t bytes() const { return count * size_of(type); }
  constexpr uint64_t end() const { return offset + bytes(); }
};

constexpr bool operator==(const Section& a, const Section& b) {
  return a.type == b.type && a.count == b.count && a.offset == b.offset;
}

/// The whole description of a packed matrix; packer, unpacker and kernel read sizes, types and places from it alone.
struct PackedFormat {
  PackedShape shape;
  PackedCounts counts;
  Section sections[section_count];
  uint64_t bytes = 0;  ///< of the whole, header included; a multiple of section_alignment

  constexpr const Section& section(SectionId id) const { return sections[static_cast<uint32_t>(id)]; }
};

constexpr bool operator==(const PackedFormat& a, const PackedFormat& b) {
  for (uint32_t i = 0; i < section_count; ++i) {
    if (!(a.sections[i] == b.sections[i])) {
      return false;
    }
  }
  return a.shape == b.shape && a.counts == b.counts && a.bytes == b.bytes;
}

/// The format that a matrix of this shape and with these counts has.
constexpr PackedFormat describe(const PackedShape& shape, const PackedCounts& counts) {
  const ScalarType pattern = shape.height <= 8    ? ScalarType::u8
                             : shape.height <= 16 ? ScalarType::u16
                             : shape.height <= 32 ? ScalarType::u32
                                                  : ScalarType::u64;
  const ScalarType column = shape.columns <= 65536 ? ScalarType::u16 : ScalarType::u32;
  const ScalarType pointer = counts.nonzeros <= 0xffffffffu ? ScalarType::u32 : ScalarType::u64;
  PackedFormat format{shape,
                      counts,
                      {{"Panels", ScalarType::u32, counts.lists, 0},
                       {"Patterns", pattern, counts.lists, 0},
                       {"RPP", pointer, counts.lists + 1, 0},
                       {"NPP", pointer, counts.lists + 1, 0},
                       {"Cols", column, counts.columns, 0},
                       {"ANNZ", shape.element, counts.nonzeros, 0}},
                      header_bytes};
  for (Section& section : format.sections) {
    section.offset = format.bytes;
    format.bytes = aligned(section.end());
  }
  return format;
}

/// The first 256 bytes of a packed matrix.
struct PackedHeader {
  unsigned char magic[8];
  uint32_t version;
  uint32_t header_bytes;
  uint64_t total_bytes;
  uint64_t rows;
  uint64_t columns;
  uint64_t nonzeros;
  uint64_t lists;
  uint64_t listed_columns;
  uint32_t height;
  uint32_t max_list_columns;
  uint32_t section_types[section_count];
  uint64_t section_offsets[section_count];
  uint64_t payload_checksum;  ///< of everything after the header
  unsigned char reserved[96];
  uint64_t header_checksum;  ///< of the bytes before it
};
static_assert(sizeof(PackedHeader) == header_bytes, "the header has 256 bytes and no padding of the compiler's");

inline constexpr char magic_text[9] = "ESCPACK\x1a";

/// Every field of the header in order, without a gap.
inline constexpr HeaderField header_fields[] = {
    {"magic", offsetof(PackedHeader, magic), 8},
    {"version", offsetof(PackedHeader, version), 4},
    {"header_bytes", offsetof(PackedHeader, header_bytes), 4},
    {"total_bytes", offsetof(PackedHeader, total_bytes), 8},
    {"rows", offsetof(PackedHeader, rows), 8},
    {"columns", offsetof(PackedHeader, columns), 8},
    {"nonzeros", offsetof(PackedHeader, nonzeros), 8},
    {"lists", offsetof(PackedHeader, lists), 8},
    {"listed_columns", offsetof(PackedHeader, listed_columns), 8},
    {"height", offsetof(PackedHeader, height), 4},
    {"max_list_columns", offsetof(PackedHeader, max_list_columns), 4},
    {"section_types", offsetof(PackedHeader, section_types), 4 * section_count},
    {"section_offsets", offsetof(PackedHeader, section_offsets), 8 * section_count},
    {"payload_checksum", offsetof(PackedHeader, payload_checksum), 8},
    {"reserved", offsetof(PackedHeader, reserved), 96},
    {"header_checksum", offsetof(PackedHeader, header_checksum), 8},
};

/// The header of a matrix of this format whose sections have this checksum.
inline PackedHeader make_header(const PackedFormat& format, uint64_t payload_checksum) {
  auto header = begin_header<PackedHeader>(magic_text, format_version, format);
  header.lists = format.counts.lists;
  header.listed_columns = format.counts.columns;
  header.height = format.shape.height;
  header.max_list_columns = format.shape.max_list_columns;
  for (uint32_t i = 0; i < section_count; ++i) {
    header.section_types[i] = static_cast<uint32_t>(format.sections[i].type);
    header.section_offsets[i] = format.sections[i].offset;
  }
  return end_header(header, payload_checksum);
}

/// The first field in which two headers differ, or null.
inline const HeaderField* first_difference(const PackedHeader& a, const PackedHeader& b) {
  return first_difference(header_fields, &a, &b);
}

// [packing text ends]
}  // namespace esc::transformer
