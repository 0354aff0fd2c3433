// SPDX-License-Identifier: Apache-2.0
#pragma once

// Row tile sources whose values are packed as another type. As in packed_bytes.h, the text between the markers is part
// of generated transformers that round what they read.

#include "transformer/row_tile_sources.h"

namespace esc::transformer {
// [packing text begins]

/// A row tile source whose values are stored as another type.
template <typename Element, typename Rows>
struct StoredRows {
  using ElementType = Element;

  Rows rows;

  template <typename Visitor>
  void visit(int64_t first_row, uint32_t row_count, Visitor&& visitor) const {
    rows.visit(first_row, row_count, stored(visitor));
  }
  template <typename Visitor>
  void visit_columns(int64_t first_column, int64_t end, int64_t first_row, uint32_t row_count,
                     Visitor&& visitor) const {
    rows.visit_columns(first_column, end, first_row, row_count, stored(visitor));
  }

 private:
  template <typename Visitor>
  static auto stored(Visitor& visitor) {
    return [&visitor](int64_t column, uint64_t mask, const auto& value_of) {
      visitor(column, mask, [&](int row) { return static_cast<Element>(value_of(row)); });
    };
  }
};

// [packing text ends]
}  // namespace esc::transformer
