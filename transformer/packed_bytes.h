// SPDX-License-Identifier: Apache-2.0
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
enum class ScalarType : uint32_t { u8 = 1, u16 = 2, u32 = 3, u64 = 4, f32 = 5, f64 = 6, f16 = 7, bf16 = 8 };

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
    case ScalarType::f16:
    case ScalarType::bf16:
      return 2;
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
    case ScalarType::f16:
      return "__half";
    case ScalarType::bf16:
      return "__nv_bfloat16";
  }
  return "void";
}

constexpr uint64_t round_up(uint64_t value, uint64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

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

// [packing text ends]
}  // namespace esc::transformer
