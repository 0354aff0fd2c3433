// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "generator/ir/affine.h"
#include "generator/ir/layout.h"

namespace esc {

/// A layout whose sizes are known, all but the outermost.
class PlacedLayout {
 public:
  /// Of a matrix whose rows are one after the other.
  PlacedLayout();
  /// `sizes` has a value for every name in the extents but that of the first digit of a column.
  PlacedLayout(const Layout& layout, const Environment& sizes);

  bool is_row_major() const { return row_major_; }
  /// Whether the outermost dimension is that of the items, so that the elements of one are apart from those of others.
  bool runs_over_items() const { return !row_major_ && !dimensions_.front().extent; }
  /// How many columns one step of the first digit of a column stands for.
  std::int64_t columns_of_item() const;

  /// How many leading dimensions the array has for `rows` rows and where a column's first digit runs to `items`.
  std::int64_t outermost_extent(std::int64_t rows, std::int64_t items) const {
    return row_major_ ? rows : dimensions_.front().extent.value_or(items);
  }
  /// The least leading dimension then.
  std::int64_t least_leading_dimension(std::int64_t items) const;
  /// Whether `width` columns, from a multiple of it on, are one after the other and begin at a multiple of it, where
  /// the leading dimension is one and the array begins at one.
  bool moves_vectors(std::int64_t width) const;
  /// Elements of a row in steps of one length, in elements from the first of the array.
  struct Run {
    std::int64_t column = 0;  ///< of the first
    std::int64_t count = 0;
    std::int64_t offset = 0;  ///< of the first
    std::int64_t step = 1;
  };
  /// Where the elements of `count` columns from `first` on are; those of the padding are left out.
  std::vector<Run> runs(std::int64_t row, std::int64_t first, std::int64_t count, std::int64_t leading_dimension) const;
  /// Where the element is, in elements from the first; nothing where it is one of the padding.
  std::optional<std::int64_t> offset(std::int64_t row, std::int64_t column, std::int64_t leading_dimension) const;

 private:
  struct Dimension {
    std::optional<std::int64_t> extent;  ///< unknown: that of the items
    std::int64_t constant = 0;
    std::vector<std::int64_t> row;  ///< coefficients of the digits
    std::vector<std::int64_t> column;
    bool padded = false;
  };

  /// Of columns that differ in their last digit alone.
  Run run(std::int64_t row, std::int64_t first, std::int64_t count, std::int64_t leading_dimension) const;

  bool row_major_;
  std::vector<std::int64_t> row_extents_;  ///< of the digits; the first does not matter
  std::vector<std::int64_t> column_extents_;
  std::vector<Dimension> dimensions_;
};

}  // namespace esc
