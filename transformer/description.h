// SPDX-License-Identifier: Apache-2.0
#pragma once

// How a packed format is described, and the header that holds the description. As in packed_bytes.h, the text between
// the markers is part of every generated transformer.

#include "transformer/packed_bytes.h"

namespace esc::transformer {
// [packing text begins]

// ---------------------------------------------------------------------------------------------------------------------
// Descriptions. A format follows from a few numbers. They are listed once, in `visit` of the shape and of the counts,
// which names each and says what it may be; the header, comparisons, the numbers of a layer in its generated
// transformer, and the checks of files and of callers all go through that list.
//
//   visit(name, number, rule)   for each number in order; a rule may depend on the numbers before it
// ---------------------------------------------------------------------------------------------------------------------

/// What a number may be.
struct Rule {
  uint64_t lowest;
  uint64_t highest;
  uint64_t divisor;  ///< of every allowed number
  bool power_of_two;

  constexpr bool allows(uint64_t number) const {
    return lowest <= number && number <= highest && number % divisor == 0 &&
           (!power_of_two || (number & (number - 1)) == 0);
  }
};

constexpr Rule between(uint64_t lowest, uint64_t highest) { return {lowest, highest, 1, false}; }
constexpr Rule multiple_of(uint64_t divisor, uint64_t highest) { return {divisor, highest, divisor, false}; }
constexpr Rule power_of_two(uint64_t highest) { return {1, highest, 1, true}; }

inline constexpr Rule any_elements =  ///< what most cuts allow
    between(static_cast<uint64_t>(ScalarType::f32), static_cast<uint64_t>(ScalarType::bf16));
inline constexpr Rule single_elements =
    between(static_cast<uint64_t>(ScalarType::f32), static_cast<uint64_t>(ScalarType::f32));
inline constexpr uint64_t max_size = 0x7fffffff;          ///< rows or columns of a matrix
inline constexpr uint64_t max_count = uint64_t{1} << 48;  ///< of anything, so that no number of bytes overflows
inline constexpr uint32_t max_numbers = 27;               ///< of a description

/// What is decided before the non-zeros are looked at: A is rows x columns, and Cut says how it is cut, and of which
/// elements it may be. A row tile is
/// `height` consecutive rows; rows that the last row tile lacks count as zero.
template <typename Cut>
struct Shape : Cut {
  int64_t rows = 0;
  int64_t columns = 0;
  ScalarType element = ScalarType::f32;

  constexpr int64_t row_tiles() const { return (rows + this->height - 1) / this->height; }
  constexpr int64_t first_row(int64_t row_tile) const { return row_tile * this->height; }
  constexpr uint32_t rows_in(int64_t row_tile) const {
    const int64_t left = rows - first_row(row_tile);
    return left < this->height ? static_cast<uint32_t>(left) : this->height;
  }
  template <typename Visit>
  constexpr void visit(const Visit& visit) {
    visit("rows", rows, between(1, max_size));
    visit("columns", columns, between(1, max_size));
    visit("element", element, Cut::elements);
    this->visit_cut(visit);
  }
};

/// All that a format follows from; `describe(shape, counts)` gives the format.
template <typename Cut, typename Counts>
struct Description {
  /// Whether a kernel reads packed matrices of other patterns, too, than that of the one which it was made for. Then
  /// packing takes a shape in place of a format, and says what a matrix needs.
  static constexpr bool takes_any_pattern = false;

  Shape<Cut> shape;
  Counts counts;

  template <typename Visit>
  constexpr void visit(const Visit& visit) {
    shape.visit(visit);
    counts.visit(shape, visit);
  }
};

/// The numbers of a description in order, then zeros.
struct Numbers {
  uint64_t values[max_numbers] = {};
};

template <typename Cut, typename Counts>
constexpr Numbers numbers_of(Description<Cut, Counts> description) {
  Numbers numbers;
  uint32_t next = 0;
  description.visit(
      [&](const char*, const auto& number, const Rule&) { numbers.values[next++] = static_cast<uint64_t>(number); });
  return numbers;
}

template <typename Number>
constexpr void assign(Number& number, uint64_t value) {
  number = static_cast<Number>(value);
}

/// The format with these numbers.
template <typename Format, size_t count>
constexpr Format format_of(const uint64_t (&numbers)[count]) {
  Format format;
  uint32_t next = 0;
  format.visit([&](const char*, auto& number, const Rule&) { assign(number, numbers[next++]); });
  return describe(format.shape, format.counts);
}

template <typename Cut, typename Counts>
constexpr bool operator==(const Description<Cut, Counts>& a, const Description<Cut, Counts>& b) {
  const Numbers of_a = numbers_of(a);
  const Numbers of_b = numbers_of(b);
  for (uint32_t i = 0; i < max_numbers; ++i) {
    if (of_a.values[i] != of_b.values[i]) {
      return false;
    }
  }
  return true;
}

// ---------------------------------------------------------------------------------------------------------------------
// The header, the first 256 bytes of a packed matrix of any format. Everything is little-endian, and the same bytes are
// the file, the host buffer and the device buffer.
// ---------------------------------------------------------------------------------------------------------------------

struct Header {
  unsigned char magic[8] = {};
  uint32_t version = 0;
  uint32_t header_bytes = 0;
  uint64_t total_bytes = 0;
  uint64_t payload_checksum = 0;  ///< of everything after the header
  Numbers numbers;                ///< of the description
  uint64_t header_checksum = 0;   ///< of the bytes before it
};
static_assert(sizeof(Header) == header_bytes, "the header has 256 bytes and no padding of the compiler's");

/// The header of a matrix of this format whose payload has this checksum.
template <typename Format>
Header make_header(const Format& format, uint64_t payload_checksum) {
  Header header;
  memcpy(header.magic, Format::magic, sizeof header.magic);
  header.version = Format::version;
  header.header_bytes = header_bytes;
  header.total_bytes = format.bytes;
  header.payload_checksum = payload_checksum;
  header.numbers = numbers_of(format);
  header.header_checksum = checksum(&header, offsetof(Header, header_checksum));
  return header;
}

/// Writes the header before a payload that is complete.
template <typename Format>
void write_header(const Format& format, unsigned char* packed) {
  const Header header = make_header(format, checksum(packed + header_bytes, format.bytes - header_bytes));
  memcpy(packed, &header, sizeof header);
}

/// The first field in which a header, whatever its payload, is not that of the format, or null.
template <typename Format>
const char* first_difference(const Header& header, Format format) {
  const Header expected = make_header(format, header.payload_checksum);
  const char* difference = memcmp(header.magic, expected.magic, sizeof header.magic) != 0 ? "magic"
                           : header.version != expected.version                           ? "version"
                           : header.header_bytes != expected.header_bytes                 ? "header_bytes"
                           : header.total_bytes != expected.total_bytes                   ? "total_bytes"
                                                                                          : nullptr;
  uint32_t next = 0;
  format.visit([&](const char* name, const auto&, const Rule&) {
    if (difference == nullptr && header.numbers.values[next] != expected.numbers.values[next]) {
      difference = name;
    }
    ++next;
  });
  const bool equal = memcmp(&header, &expected, sizeof header) == 0;
  return difference != nullptr || equal ? difference : "reserved";
}

// [packing text ends]
}  // namespace esc::transformer
