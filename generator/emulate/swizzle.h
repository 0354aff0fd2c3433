// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace esc {

/// How pieces of 16 bytes are exchanged in shared memory, so that a column of pieces lies in many banks: as tensor
/// copies store a box, and as products of warpgroups read B. Values are those that CUDA has for tensor copies.
enum class Swizzle : std::uint32_t { none, of_32_bytes, of_64_bytes, of_128_bytes };

inline constexpr std::uint32_t swizzle_piece_bytes = 16;

/// The pieces that are exchanged with each other; 1 where there is no swizzle.
constexpr std::uint32_t pieces_of(Swizzle swizzle) { return std::uint32_t{1} << static_cast<std::uint32_t>(swizzle); }

/// Where a byte lies: the number of its 128 bytes is added to that of its piece, without a carry.
constexpr std::uint64_t swizzled(std::uint64_t address, Swizzle swizzle) {
  constexpr std::uint32_t kRowBytes = 128;
  return address ^ (address / kRowBytes % pieces_of(swizzle) * swizzle_piece_bytes);
}

}  // namespace esc
