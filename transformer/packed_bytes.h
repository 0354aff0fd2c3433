#pragma once

// What every packed format is made of. Everything between the two markers is also the beginning of each generated
// NAME_transformer.cpp, word for word; that is why it is C++17, includes three C headers and allocates nothing.

#include <stddef.h>
#include <stdint.h>
#include <string.h>

namespace esc::transformer {
// [packing text begins]

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the packed format is little-endian, and so must the host be"
#endif

inline constexpr uint32_t header_bytes = 256;
inline constexpr uint32_t section_alignment = 256;
inline constexpr uint32_t max_height = 8;

/// Types of the elements of a section. The numbers are written into packed files.
enum class ScalarType : uint32_t { u8 = 1, u16 = 2, u32 = 3, u64 = 4, f32 = 5, f64 = 6 };

/// Bytes of one element; 0 for a code that is not a type.
constexpr uint64_t size_of(ScalarType type) {
  switch (type) {
    case ScalarType::u8:
      return 1;
    case ScalarType::u16:
      return 2;
    case ScalarType::u32:
      return 4;
    case ScalarType::u64:
      return 8;
    case ScalarType::f32:
      return 4;
    case ScalarType::f64:
      return 8;
  }
  return 0;
}

/// The type as C and CUDA spell it.
constexpr const char* c_name(ScalarType type) {
  switch (type) {
    case ScalarType::u8:
      return "unsigned char";
    case ScalarType::u16:
      return "unsigned short";
    case ScalarType::u32:
      return "unsigned int";
    case ScalarType::u64:
      return "unsigned long long";
    case ScalarType::f32:
      return "float";
    case ScalarType::f64:
      return "double";
  }
  return "void";
}

/// Bytes up to the next section.
constexpr uint64_t aligned(uint64_t bytes) {
  return (bytes + section_alignment - 1) / section_alignment * section_alignment;
}

/// One step of the checksum and of the pattern digests: for either argument fixed, one-to-one in the other.
constexpr uint64_t mix(uint64_t hash, uint64_t word) {
  const uint64_t sum = hash + word * 0xc2b2ae3d27d4eb4fu;
  return ((sum << 31) | (sum >> 33)) * 0x9e3779b185ebca87u;
}

/// Checksum of `bytes` bytes, a multiple of 8: word i goes to lane i % 4, then the lanes and the length are mixed.
inline uint64_t checksum(const void* data, uint64_t bytes) {
  const unsigned char* next = static_cast<const unsigned char*>(data);
  const unsigned char* const end = next + bytes;
  uint64_t lanes[4] = {1, 2, 3, 4};
  for (; end - next >= 32; next += 32) {
    uint64_t words[4];
    memcpy(words, next, 32);
    for (int lane = 0; lane < 4; ++lane) {
      lanes[lane] = mix(lanes[lane], words[lane]);
    }
  }
  for (int lane = 0; next != end; next += 8, ++lane) {
    uint64_t word;
    memcpy(&word, next, 8);
    lanes[lane] = mix(lanes[lane], word);
  }
  uint64_t hash = bytes;
  for (uint64_t lane : lanes) {
    hash = mix(hash, lane);
  }
  return hash ^ (hash >> 32);
}

/// A field of a header: for messages, and to tell where two headers differ.
struct HeaderField {
  const char* name;
  size_t offset;
  size_t bytes;
};

/// A header with what all formats say in the same fields; the rest is zero.
template <typename Header, typename Format>
Header begin_header(const char (&magic)[9], uint32_t version, const Format& format) {
  Header header;
  memset(&header, 0, sizeof header);
  memcpy(header.magic, magic, sizeof header.magic);
  header.version = version;
  header.header_bytes = header_bytes;
  header.total_bytes = format.bytes;
  header.rows = static_cast<uint64_t>(format.shape.rows);
  header.columns = static_cast<uint64_t>(format.shape.columns);
  header.nonzeros = format.counts.nonzeros;
  return header;
}

/// The finished header: with the checksum of everything after it, and its own.
template <typename Header>
Header end_header(Header header, uint64_t payload_checksum) {
  header.payload_checksum = payload_checksum;
  header.header_checksum = checksum(&header, offsetof(Header, header_checksum));
  return header;
}

/// Writes the header in front of a payload that is complete.
template <typename Format>
void write_header(const Format& format, unsigned char* packed) {
  const auto header = make_header(format, checksum(packed + header_bytes, format.bytes - header_bytes));
  memcpy(packed, &header, sizeof header);
}

/// The first of the fields in which two headers, both of header_bytes bytes, differ, or null.
template <size_t count>
const HeaderField* first_difference(const HeaderField (&fields)[count], const void* a, const void* b) {
  for (const HeaderField& field : fields) {
    if (memcmp(static_cast<const unsigned char*>(a) + field.offset,
               static_cast<const unsigned char*>(b) + field.offset, field.bytes) != 0) {
      return &field;
    }
  }
  return nullptr;
}

// [packing text ends]
}  // namespace esc::transformer
