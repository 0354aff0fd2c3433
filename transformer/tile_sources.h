// SPDX-License-Identifier: Apache-2.0
#pragma once

// Tiles of A as arrays of elements. As in packed_bytes.h, the text between the markers is part of the generated
// transformers whose packing reads them.

#include "transformer/row_tile_sources.h"

namespace esc::transformer {
// [packing text begins]

// ---------------------------------------------------------------------------------------------------------------------
// Tiles of row tile sources, for packing that looks at zeros and non-zeros alike. A tile of zeros becomes the elements
// of these rows and columns, of which it may have more.
// ---------------------------------------------------------------------------------------------------------------------

template <typename Element, size_t rows, size_t columns>
void read_tile(const DenseRows<Element>& source, int64_t first_row, uint32_t row_count, int64_t first_column,
               uint32_t column_count, Element (&tile)[rows][columns]) {
  for (uint32_t r = 0; r < row_count; ++r) {
    memcpy(tile[r], source.values + (first_row + r) * source.lda + first_column, column_count * sizeof(Element));
  }
}

template <typename Offset, typename Element, typename Stored, size_t rows, size_t columns>
void read_tile(const CsrRows<Offset, Element>& source, int64_t first_row, uint32_t row_count, int64_t first_column,
               uint32_t column_count, Stored (&tile)[rows][columns]) {
  for (uint32_t r = 0; r < row_count; ++r) {
    const Offset end = source.offsets[first_row + r + 1];
    for (Offset at = source.first_entry(source.offsets[first_row + r], end, first_column);
         at < end && source.column_of[at] - first_column < column_count; ++at) {
      tile[r][source.column_of[at] - first_column] = static_cast<Stored>(source.values[at]);
    }
  }
}

// [packing text ends]
}  // namespace esc::transformer
