// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "generator/emulate/swizzle.h"

namespace esc {

/// A matrix of elements of 16 or 32 bits in global memory, and the box of it that one copy moves (CUtensorMap).
struct TensorMap {
  std::uint64_t base = 0;
  std::uint64_t columns = 0;
  std::uint64_t rows = 0;
  std::uint64_t stride = 0;  ///< bytes from row to row
  std::uint32_t box_columns = 0;
  std::uint32_t box_rows = 0;
  Swizzle swizzle = Swizzle::none;
  std::uint64_t element_bytes = 2;

  std::uint64_t box_bytes() const { return element_bytes * box_columns * box_rows; }
  /// What the box must be aligned to in shared memory: the pattern of its pieces repeats.
  std::uint64_t box_alignment() const;
  /// Where the byte at `offset` of the box, row by row, lies in shared memory.
  std::uint64_t place(std::uint64_t offset) const;

  /// The elements of row `row` of the box at (x, y) that are inside of the matrix: where they begin in the row of the
  /// box, how many they are, and their address.
  struct Span {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
    std::uint64_t address = 0;
  };
  Span inside(std::int32_t x, std::int32_t y, std::uint32_t row) const;

  /// Whether a copy may begin at column x: at a multiple of 16 bytes.
  bool may_begin_at(std::int32_t x) const;

  /// The bytes of the box at (x, y) as they lie in shared memory; elements outside of the matrix are zero.
  std::vector<std::byte> read(std::int32_t x, std::int32_t y) const;
};

/// Whether rows of a box are shorter than the swizzle's span. A GPU does not place those one after the other.
bool has_gaps(const TensorMap& map);

/// What CUDA keeps of a map: its layout here is the emulator's.
using EncodedTensorMap = std::array<std::uint64_t, 16>;

/// Nothing for a map that the driver refuses: base and stride that are not multiples of 16, a box that is empty or
/// larger than 256 in a dimension, whose rows are no multiple of 16 bytes, or longer than the swizzle's span.
std::optional<EncodedTensorMap> encode_tensor_map(const TensorMap& map);
/// Nothing for what `encode_tensor_map` has not made.
std::optional<TensorMap> decode_tensor_map(const EncodedTensorMap& encoded);

}  // namespace esc
