// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "generator/emulate/swizzle.h"

namespace esc {

/// Where the warps of a group find B in shared memory (`wgmma`), 8 words deep along k, in pieces of 16 bytes. Without a
/// swizzle a piece is four words of a column, and 8 columns have theirs in 128 bytes. With one of 64 or 128 bytes a
/// line of as many is 32 or 64 halves of a column, or transposed as many columns of a k, and of 8 lines the pieces are
/// exchanged. Distances are in bytes.
struct MatrixDescriptor {
  std::uint32_t start = 0;    ///< an address of shared memory
  std::uint32_t leading = 0;  ///< along k to the next piece; transposed to the next columns; else without meaning
  std::uint32_t stride = 0;   ///< to the next 8 columns, transposed to the next 8 of k
  Swizzle swizzle = Swizzle::none;
  bool transposed = false;  ///< columns of a k are one after the other; of 16-bit elements

  static constexpr std::uint32_t piece_bytes = swizzle_piece_bytes;
  static constexpr std::uint32_t swizzled_lines = 8;

  /// What the operand of the instruction says; nothing where it asks for another swizzle or a base offset, has bits
  /// that mean nothing, or where lines that are exchanged do not begin at a multiple of all of them or end within the
  /// matrix.
  static constexpr std::optional<MatrixDescriptor> of(std::uint64_t operand, bool transposed = false) {
    constexpr std::uint64_t kField = 0x3fff;
    constexpr unsigned kSwizzle = 62;
    constexpr Swizzle kSwizzles[] = {Swizzle::none, Swizzle::of_128_bytes, Swizzle::of_64_bytes, Swizzle::of_32_bytes};
    constexpr std::uint64_t kKnown = kField | kField << 16 | kField << 32 | std::uint64_t{3} << kSwizzle;
    const auto bytes = [operand](unsigned shift) { return static_cast<std::uint32_t>(operand >> shift & kField) << 4; };
    const MatrixDescriptor found{bytes(0), bytes(16), bytes(32), kSwizzles[operand >> kSwizzle], transposed};
    const bool is_known = (operand & ~kKnown) == 0 && found.swizzle != Swizzle::of_32_bytes;
    const bool has_meaning = is_known && (found.is_swizzled() ? found.has_whole_lines() : !transposed);
    return has_meaning ? std::optional(found) : std::nullopt;
  }

  /// How many pieces so many columns have.
  static constexpr std::uint32_t pieces(std::uint32_t columns) { return 2 * columns; }

  /// The address of a piece: of column p / 2 the first or second four words, transposed of 8 columns those of k p % 16.
  constexpr std::uint32_t piece(std::uint32_t number) const {
    if (transposed) {
      const std::uint32_t k = number % 16;
      const std::uint32_t eighth = number / 16;
      return exchanged(start + eighth / pieces_of(swizzle) * leading + k / 8 * stride + k % 8 * line() +
                       eighth % pieces_of(swizzle) * piece_bytes);
    }
    const std::uint32_t column = number / 2;
    const std::uint32_t half = number % 2;
    return is_swizzled() ? exchanged(start + column / 8 * stride + column % 8 * line() + half * piece_bytes)
                         : start + half * leading + column / 8 * stride + column % 8 * piece_bytes;
  }

 private:
  constexpr bool has_whole_lines() const {
    const std::uint32_t lines = swizzled_lines * line();
    const std::uint32_t into_lines = start % lines;
    const std::uint32_t last_start = line() - 2 * piece_bytes;
    return (transposed ? into_lines == 0 && leading % lines == 0 : into_lines <= last_start) && stride % lines == 0;
  }
  constexpr bool is_swizzled() const { return swizzle != Swizzle::none; }
  constexpr std::uint32_t line() const { return pieces_of(swizzle) * piece_bytes; }
  constexpr std::uint32_t exchanged(std::uint32_t address) const {
    return static_cast<std::uint32_t>(swizzled(address, swizzle));
  }
};

}  // namespace esc
