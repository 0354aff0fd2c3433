// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace esc {

/// Where the warps of a group find B in shared memory (`wgmma`), 8 words deep, k by k and without a swizzle: pieces of
/// 8 columns x 4 words along k, each 128 bytes without a gap. Distances are in bytes.
struct MatrixDescriptor {
  std::uint32_t start = 0;    ///< an address of shared memory
  std::uint32_t leading = 0;  ///< from one piece to the next along k
  std::uint32_t stride = 0;   ///< from 8 columns to the next 8

  /// The bytes of four words of a column along k.
  static constexpr std::uint32_t row_bytes = 16;

  /// What the operand of the instruction says; nothing where it asks for a swizzle or a base offset, or has bits that
  /// mean nothing.
  static constexpr std::optional<MatrixDescriptor> of(std::uint64_t operand) {
    constexpr std::uint64_t kField = 0x3fff;
    constexpr std::uint64_t kKnown = kField | kField << 16 | kField << 32;
    const auto bytes = [operand](unsigned shift) { return static_cast<std::uint32_t>(operand >> shift & kField) << 4; };
    return (operand & ~kKnown) != 0 ? std::nullopt : std::optional(MatrixDescriptor{bytes(0), bytes(16), bytes(32)});
  }

  /// The address of words 4 `half` to 4 `half` + 3 of a column.
  constexpr std::uint32_t row(std::uint32_t column, std::uint32_t half) const {
    return start + half * leading + column / 8 * stride + column % 8 * row_bytes;
  }
};

}  // namespace esc
