// SPDX-License-Identifier: Apache-2.0
#pragma once

// Where the packer reads A from. As in packed_bytes.h, the text between the markers is part of every generated
// transformer.

#include "transformer/packed_bytes.h"

namespace esc::transformer {
// [packing text begins]

// ---------------------------------------------------------------------------------------------------------------------
// Row tile sources: the two forms in which A is read. A source has
//
//   visit(first_row, row_count, visitor)   calls visitor(column, mask, value_of) for each column in which one of these
//                                          rows is non-zero, columns ascending; value_of(r) is the value in row
//                                          first_row + r, for a set bit r of the mask
//
//   visit_columns(first_column, behind, first_row, row_count, visitor)   the same of the columns from first_column to
//                                                                        before `behind`
//
// Zero is +0 or -0, stored or not.
// ---------------------------------------------------------------------------------------------------------------------

inline constexpr int k_tile_columns = 64;
inline constexpr uint32_t max_source_rows = 32;  ///< that are visited at once

/// Index of the lowest set bit; `word` is not zero.
inline int lowest_set(uint64_t word) {
#if defined(__GNUC__)
  return __builtin_ctzll(word);
#else
  int index = 0;
  for (; (word & 1) == 0; word >>= 1) {
    ++index;
  }
  return index;
#endif
}

constexpr uint32_t popcount(uint64_t word) {
  word -= (word >> 1) & 0x5555555555555555u;
  word = (word & 0x3333333333333333u) + ((word >> 2) & 0x3333333333333333u);
  word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fu;
  return static_cast<uint32_t>((word * 0x0101010101010101u) >> 56);
}

/// A dense, row-major matrix; row i starts at values + i * lda.
template <typename Element>
struct DenseRows {
  using ElementType = Element;

  const Element* values;
  int64_t lda;
  int64_t columns;

  template <typename Visitor>
  void visit(int64_t first_row, uint32_t row_count, Visitor&& visitor) const {
    visit_columns(0, columns, first_row, row_count, visitor);
  }
  template <typename Visitor>
  void visit_columns(int64_t first_column, int64_t behind, int64_t first_row, uint32_t row_count,
                     Visitor&& visitor) const {
    const Element* const row_tile = values + first_row * lda;
    for (int64_t first = first_column; first < behind; first += k_tile_columns) {
      const int width = behind - first < k_tile_columns ? static_cast<int>(behind - first) : k_tile_columns;
      uint64_t masks[k_tile_columns] = {};
      for (uint32_t r = 0; r < row_count; ++r) {
        const Element* const row = row_tile + r * lda + first;
        for (int j = 0; j < width; ++j) {
          masks[j] |= static_cast<uint64_t>(static_cast<bool>(row[j])) << r;
        }
      }
      uint64_t occupied = 0;
      for (int j = 0; j < width; ++j) {
        occupied |= static_cast<uint64_t>(masks[j] != 0) << j;
      }
      for (; occupied != 0; occupied &= occupied - 1) {
        const int j = lowest_set(occupied);
        visitor(first + j, masks[j], [column = row_tile + first + j, this](int r) { return column[r * lda]; });
      }
    }
  }
};

/// A matrix in compressed sparse row form: row i has the entries offsets[i] .. offsets[i + 1], columns ascending.
/// The rows of a row tile are merged 64 columns at a time, beginning at the lowest column that is left: O(non-zeros)
/// and some work per K tile, whatever the number of columns.
template <typename Offset, typename Element>
struct CsrRows {
  using ElementType = Element;

  const Offset* offsets;
  const int32_t* column_of;
  const Element* values;

  template <typename Visitor>
  void visit(int64_t first_row, uint32_t row_count, Visitor&& visitor) const {
    Offset next[max_source_rows];
    Offset end[max_source_rows];
    for (uint32_t r = 0; r < row_count; ++r) {
      next[r] = offsets[first_row + r];
      end[r] = offsets[first_row + r + 1];
    }
    visit_entries(next, end, row_count, visitor);
  }
  template <typename Visitor>
  void visit_columns(int64_t first_column, int64_t behind, int64_t first_row, uint32_t row_count,
                     Visitor&& visitor) const {
    Offset next[max_source_rows];
    Offset end[max_source_rows];
    for (uint32_t r = 0; r < row_count; ++r) {
      next[r] = first_entry(offsets[first_row + r], offsets[first_row + r + 1], first_column);
      end[r] = first_entry(next[r], offsets[first_row + r + 1], behind);
    }
    visit_entries(next, end, row_count, visitor);
  }

  /// Visits the entries of rows from `next` to before `end`.
  template <typename Visitor>
  void visit_entries(Offset (&next)[max_source_rows], const Offset (&end)[max_source_rows], uint32_t row_count,
                     Visitor&& visitor) const {
    uint64_t masks[k_tile_columns] = {};
    Element k_tile[k_tile_columns][max_source_rows];
    for (;;) {
      int64_t first = INT64_MAX;
      for (uint32_t r = 0; r < row_count; ++r) {
        if (next[r] < end[r] && column_of[next[r]] < first) {
          first = column_of[next[r]];
        }
      }
      if (first == INT64_MAX) {
        return;
      }
      uint64_t occupied = 0;
      for (uint32_t r = 0; r < row_count; ++r) {
        Offset at = next[r];
        for (; at < end[r] && column_of[at] - first < k_tile_columns; ++at) {
          const int64_t j = column_of[at] - first;
          const uint64_t nonzero = static_cast<bool>(values[at]) ? 1 : 0;
          masks[j] |= nonzero << r;
          occupied |= nonzero << j;
          k_tile[j][r] = values[at];
        }
        next[r] = at;
      }
      for (; occupied != 0; occupied &= occupied - 1) {
        const int j = lowest_set(occupied);
        visitor(first + j, masks[j], [column = k_tile[j]](int r) { return column[r]; });
        masks[j] = 0;
      }
    }
  }

  /// The first of some entries of a row whose column is `column` or a later one.
  Offset first_entry(Offset first, Offset behind, int64_t column) const {
    while (first < behind) {
      const Offset middle = first + (behind - first) / 2;
      if (column_of[middle] < column) {
        first = middle + 1;
      } else {
        behind = middle;
      }
    }
    return first;
  }

  /// The first row that ends before it starts, or -1. To be asked before any row is read.
  int64_t first_decreasing_row(int64_t rows) const {
    for (int64_t row = 0; row < rows; ++row) {
      if (offsets[row + 1] < offsets[row]) {
        return row;
      }
    }
    return -1;
  }

  /// What is wrong with the columns of a row, or null.
  const char* column_problem(int64_t row, int64_t columns) const {
    int64_t previous = -1;
    for (Offset at = offsets[row]; at < offsets[row + 1]; ++at) {
      if (column_of[at] < 0 || column_of[at] >= columns) {
        return "a column index lies outside the matrix";
      }
      if (column_of[at] <= previous) {
        return "the column indices do not increase";
      }
      previous = column_of[at];
    }
    return nullptr;
  }
};

// [packing text ends]
}  // namespace esc::transformer
