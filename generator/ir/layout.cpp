// SPDX-License-Identifier: Apache-2.0
#include "generator/ir/layout.h"

#include <algorithm>
#include <numeric>

namespace esc {

Layout row_major(const std::string& row, const Affine& rows, const std::string& column, const Affine& columns) {
  return {{{row, rows}}, {{column, columns}}, {{rows, Affine::of(row)}, {columns, Affine::of(column)}}};
}

bool is_row_major(const Layout& layout) {
  return layout.row.size() == 1 && layout.column.size() == 1 && layout.dimensions.size() == 2 &&
         layout.dimensions[0].index.is_name(layout.row[0].name) &&
         layout.dimensions[1].index.is_name(layout.column[0].name);
}

bool is_column_major(const Layout& layout) {
  return layout.row.size() == 1 && layout.column.size() == 1 && layout.dimensions.size() == 2 &&
         layout.dimensions[0].index.is_name(layout.column[0].name) &&
         layout.dimensions[1].index.is_name(layout.row[0].name);
}

bool has_contiguous_columns(const Layout& layout) {
  return layout.dimensions.back().index.mentions(layout.column.back().name);
}

bool has_contiguous_rows(const Layout& layout) {
  const std::string& row = layout.row.front().name;
  const auto of_columns = [&](const StoredDimension& dimension) {
    return !dimension.index.mentions(row) && !dimension.padded;
  };
  return layout.row.size() == 1 && layout.dimensions.back().index.is_name(row) && !layout.dimensions.back().padded &&
         std::all_of(layout.dimensions.begin(), layout.dimensions.end() - 1, of_columns);
}

std::int64_t columns_of_item(const Layout& layout) {
  return std::accumulate(layout.column.begin() + 1, layout.column.end(), std::int64_t{1},
                         [](std::int64_t columns, const Digit& digit) { return columns * digit.extent.evaluate({}); });
}

bool is_over_items(const Layout& layout, const StoredDimension& dimension) {
  const Digit& first = layout.column.front();
  return dimension.extent == first.extent && dimension.index.mentions(first.name);
}

}  // namespace esc
