// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

namespace esc {

/// Where the warps of a group find B in shared memory (`wgmma`), 8 words deep along k, in pieces of 16 bytes. Without a
/// swizzle a piece is four words of a column, and 8 columns have theirs in 128 bytes. With that of 128 bytes a line of
/// 128 is 64 halves of a column, or transposed 64 columns of a k, and of 8 lines the pieces are exchanged. Distances
/// are in bytes.
struct MatrixDescriptor {
  std::uint32_t start = 0;    ///< an address of shared memory
  std::uint32_t leading = 0;  ///< along k to the next piece; transposed to the next 64 columns; else without meaning
  std::uint32_t stride = 0;   ///< to the next 8 columns, transposed to the next 8 of k
  bool swizzled = false;      ///< by 128 bytes
  bool transposed = false;    ///< columns of a k are one after the other; of 16-bit elements

  static constexpr std::uint32_t piece_bytes = 16;
  static constexpr std::uint32_t line_bytes = 128;
  static constexpr std::uint32_t swizzled_lines = 8;

  /// What the operand of the instruction says; nothing where it asks for another swizzle or a base offset, has bits
  /// that mean nothing, or where lines that are exchanged do not begin at a multiple of all of them or end within the
  /// matrix.
  static constexpr std::optional<MatrixDescriptor> of(std::uint64_t operand, bool transposed = false) {
    constexpr std::uint64_t kField = 0x3fff;
    constexpr std::uint64_t kSwizzle = std::uint64_t{1} << 62;
    constexpr std::uint64_t kKnown = kField | kField << 16 | kField << 32 | kSwizzle;
    const auto bytes = [operand](unsigned shift) { return static_cast<std::uint32_t>(operand >> shift & kField) << 4; };
    const MatrixDescriptor found{bytes(0), bytes(16), bytes(32), (operand & kSwizzle) != 0, transposed};
    const bool has_meaning = (operand & ~kKnown) == 0 && (found.swizzled ? found.has_whole_lines() : !transposed);
    return has_meaning ? std::optional(found) : std::nullopt;
  }

  /// How many pieces so many columns have.
  static constexpr std::uint32_t pieces(std::uint32_t columns) { return 2 * columns; }

  /// The address of a piece: of column p / 2 the first or second four words, transposed of 8 columns those of k p % 16.
  constexpr std::uint32_t piece(std::uint32_t number) const {
    if (transposed) {
      const std::uint32_t k = number % 16;
      const std::uint32_t eighth = number / 16;
      return exchanged(start + eighth / 8 * leading + k / 8 * stride + k % 8 * line_bytes + eighth % 8 * piece_bytes);
    }
    const std::uint32_t column = number / 2;
    const std::uint32_t half = number % 2;
    return swizzled ? exchanged(start + column / 8 * stride + column % 8 * line_bytes + half * piece_bytes)
                    : start + half * leading + column / 8 * stride + column % 8 * piece_bytes;
  }

 private:
  constexpr bool has_whole_lines() const {
    constexpr std::uint32_t kLines = swizzled_lines * line_bytes;
    const std::uint32_t into_lines = start % kLines;
    constexpr std::uint32_t kLastStart = line_bytes - 2 * piece_bytes;
    return (transposed ? into_lines == 0 && leading % kLines == 0 : into_lines <= kLastStart) && stride % kLines == 0;
  }
  /// The number of a line among 8 is added to that of a piece in it, without a carry.
  static constexpr std::uint32_t exchanged(std::uint32_t address) {
    return address ^ (address / line_bytes % swizzled_lines * piece_bytes);
  }
};

}  // namespace esc
