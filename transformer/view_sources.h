// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "transformer/half_floats.h"
#include "transformer/matrix_view.h"
#include "transformer/panel_sources.h"

namespace esc::transformer {

/// Rows of doubles as the packing text reads them, each value as the type that is stored, which holds it exactly.
template <typename Element, typename Rows>
struct StoredRows {
  using ElementType = Element;

  Rows rows;

  template <typename Visitor>
  void visit(int64_t first_row, uint32_t row_count, Visitor&& visitor) const {
    rows.visit(first_row, row_count, stored(visitor));
  }
  template <typename Visitor>
  void visit_columns(int64_t first_column, int64_t behind, int64_t first_row, uint32_t row_count, Visitor&& visitor) const {
    rows.visit_columns(first_column, behind, first_row, row_count, stored(visitor));
  }

 private:
  template <typename Visitor>
  static auto stored(Visitor& visitor) {
    return [&visitor](int64_t column, uint64_t mask, const auto& value_of) {
      visitor(column, mask, [&](int row) { return static_cast<Element>(value_of(row)); });
    };
  }
};

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

/// The same of a view whose elements have 32 or 16 bits.
template <typename Use>
decltype(auto) with_single_or_half_source(const CsrView& matrix, Use&& use) {
  using Rows = CsrRows<std::int64_t, double>;
  return matrix.element == ScalarType::f16    ? use(StoredRows<Float16, Rows>{rows_of(matrix)})
         : matrix.element == ScalarType::bf16 ? use(StoredRows<BFloat16, Rows>{rows_of(matrix)})
                                              : use(StoredRows<float, Rows>{rows_of(matrix)});
}

}  // namespace esc::transformer
