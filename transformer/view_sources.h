// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "transformer/half_floats.h"
#include "transformer/matrix_view.h"
#include "transformer/stored_rows.h"
#include "transformer/tile_sources.h"

namespace esc::transformer {

/// Rows of doubles, of which each is a value of the type that is stored.
inline CsrRows<std::int64_t, double> rows_of(const CsrView& matrix) {
  return {matrix.offsets.data(), matrix.column_of.data(), matrix.values.data()};
}

/// Calls use(source) with the view as the packing text reads it.
template <typename Use>
decltype(auto) with_source(const CsrView& matrix, Use&& use) {
  using Rows = CsrRows<std::int64_t, double>;
  switch (matrix.element) {
    case ScalarType::f64:
      return use(StoredRows<double, Rows>{rows_of(matrix)});
    case ScalarType::f16:
      return use(StoredRows<Float16, Rows>{rows_of(matrix)});
    case ScalarType::bf16:
      return use(StoredRows<BFloat16, Rows>{rows_of(matrix)});
    default:
      return use(StoredRows<float, Rows>{rows_of(matrix)});
  }
}

/// A tile whose values are stored as another type.
template <typename Element, typename Rows, std::size_t rows, std::size_t columns>
void read_tile(const StoredRows<Element, Rows>& source, std::int64_t first_row, std::uint32_t row_count,
               std::int64_t first_column, std::uint32_t column_count, Element (&tile)[rows][columns]) {
  read_tile(source.rows, first_row, row_count, first_column, column_count, tile);
}

}  // namespace esc::transformer
