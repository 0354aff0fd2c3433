#pragma once

#include <cstdint>

#include "transformer/matrix_view.h"
#include "transformer/panel_sources.h"

namespace esc::transformer {

/// Rows of doubles as the packing text reads them, each value rounded to the type that is stored.
template <typename Element, typename Rows>
struct StoredRows {
  using ElementType = Element;

  Rows rows;

  template <typename Visitor>
  void visit(int64_t first_row, uint32_t row_count, Visitor&& visitor) const {
    rows.visit(first_row, row_count, [&](int64_t column, uint64_t mask, const auto& value_of) {
      visitor(column, mask, [&](int row) { return static_cast<Element>(value_of(row)); });
    });
  }
};

inline CsrRows<std::int64_t, double> rows_of(const CsrView& matrix) {
  return {matrix.offsets.data(), matrix.column_of.data(), matrix.values.data()};
}

/// Calls use(source) with the view as the packing text reads it.
template <typename Use>
decltype(auto) with_source(const CsrView& matrix, Use&& use) {
  using Rows = CsrRows<std::int64_t, double>;
  return matrix.element == ScalarType::f64 ? use(StoredRows<double, Rows>{rows_of(matrix)})
                                           : use(StoredRows<float, Rows>{rows_of(matrix)});
}

}  // namespace esc::transformer
