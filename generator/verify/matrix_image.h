// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "generator/ir/placed_layout.h"

namespace esc {

/// A matrix as it lies in memory from its first element to its last, with what lies between its elements.
template <typename Element>
class MatrixImage {
 public:
  /// All elements are `between` at first. The layout must outlive this.
  MatrixImage(const PlacedLayout& layout, std::int64_t rows, std::int64_t columns, std::int64_t leading_dimension,
              Element between)
      : layout_(layout), rows_(rows), columns_(columns), leading_dimension_(leading_dimension) {
    const std::int64_t items = columns / layout.columns_of_item();
    elements_.assign(static_cast<std::size_t>((layout.outermost_extent(rows, items) - 1) * leading_dimension +
                                              layout.least_leading_dimension(items)),
                     between);
  }

  std::vector<Element>& elements() { return elements_; }
  std::size_t bytes() const { return elements_.size() * sizeof(Element); }

  /// Calls visit(element, compact) for each of the matrix, which has its place in `compact` too, where rows have no
  /// gaps. Elements of the padding are left out.
  template <typename Compact, typename Visit>
  void visit(Compact* compact, const Visit& visit) {
    for (std::int64_t row = 0; row < rows_; ++row, compact += columns_) {
      for (const PlacedLayout::Run& run : layout_.runs(row, 0, columns_, leading_dimension_)) {
        for (std::int64_t at = 0; at < run.count; ++at) {
          visit(elements_[static_cast<std::size_t>(run.offset + at * run.step)], compact[run.column + at]);
        }
      }
    }
  }

 private:
  const PlacedLayout& layout_;
  std::int64_t rows_;
  std::int64_t columns_;
  std::int64_t leading_dimension_;
  std::vector<Element> elements_;
};

}  // namespace esc
