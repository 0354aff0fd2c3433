// SPDX-License-Identifier: Apache-2.0
#pragma once

// Matrices of 16-bit elements for tests of their packed formats.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <vector>

#include "transformer/half_floats.h"
#include "transformer/row_tile_sources.h"
#include "transformer/unpack.h"

namespace esc::transformer {

inline constexpr std::array half_types{ScalarType::f16, ScalarType::bf16};

inline bool same_bytes(std::span<const std::byte> a, std::span<const std::byte> b) { return std::ranges::equal(a, b); }

/// All elements, those that are not stored as -0, with a one between the end of a row and the next.
template <typename Half>
struct DenseHalves {
  std::int64_t columns;
  std::vector<Half> elements;

  explicit DenseHalves(const CsrMatrix& matrix) : columns(matrix.columns) {
    const auto lda = static_cast<std::size_t>(columns + 1);
    elements.assign(static_cast<std::size_t>(matrix.rows) * lda, Half(-0.0));
    for (std::size_t row = 0; row + 1 < matrix.offsets.size(); ++row) {
      elements[(row + 1) * lda - 1] = Half(1);
      const auto behind = static_cast<std::size_t>(matrix.offsets[row + 1]);
      for (auto at = static_cast<std::size_t>(matrix.offsets[row]); at < behind; ++at) {
        elements[row * lda + static_cast<std::size_t>(matrix.column_of[at])] = Half(matrix.values[at]);
      }
    }
  }
  DenseRows<Half> source() const { return {elements.data(), columns + 1, columns}; }
  /// The bits of an element; of a zero, and outside the matrix, none.
  std::uint32_t bits(std::int64_t row, std::int64_t column) const {
    const std::int64_t at = row * (columns + 1) + column;
    if (column >= columns || at >= std::ssize(elements)) {
      return 0;
    }
    const std::uint16_t bits = elements[static_cast<std::size_t>(at)].bits;
    return (bits & 0x7fff) == 0 ? 0U : bits;
  }
};

inline CsrMatrix without_zeros(const CsrMatrix& matrix) {
  CsrMatrix kept{matrix.rows, matrix.columns, {0}, {}, {}, matrix.element};
  for (std::size_t row = 0; row + 1 < matrix.offsets.size(); ++row) {
    for (auto at = static_cast<std::size_t>(matrix.offsets[row]);
         at < static_cast<std::size_t>(matrix.offsets[row + 1]); ++at) {
      if (matrix.values[at] != 0) {
        kept.column_of.push_back(matrix.column_of[at]);
        kept.values.push_back(matrix.values[at]);
      }
    }
    kept.offsets.push_back(std::ssize(kept.values));
  }
  return kept;
}

}  // namespace esc::transformer
