// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "transformer/format_error.h"
#include "transformer/matrix_view.h"
#include "transformer/packed.h"

namespace esc::transformer {

/// A matrix in compressed sparse row form; columns increase strictly within a row, no stored value is zero.
struct CsrMatrix {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<std::int64_t> offsets;
  std::vector<std::int32_t> column_of;
  std::vector<double> values;
  ScalarType element = ScalarType::f32;

  CsrView view() const { return {rows, columns, offsets, column_of, values, element}; }
  bool operator==(const CsrMatrix&) const = default;
};

/// The format of a packed matrix, from bytes that nobody vouches for. Everything that the header says is checked, what
/// is after it is not read. Throws FormatError.
PackedFormat read_format(std::span<const std::byte> packed);

/// The matrix that was packed, exactly. Every byte is checked: what comes back packs to the same bytes again. Throws
/// FormatError. Time and room as for packing, and a sort of the non-zeros.
CsrMatrix unpack(std::span<const std::byte> packed);

}  // namespace esc::transformer
