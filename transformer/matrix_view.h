// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "transformer/packed_bytes.h"

namespace esc::transformer {

/// A matrix in compressed sparse row form that somebody else owns: `offsets` has rows + 1 entries and starts at 0,
/// columns increase strictly within a row. Stored zeros count as zeros. The values have been
/// rounded to `element` by whoever read them: packing converts them exactly, and what is not zero stays so.
struct CsrView {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::span<const std::int64_t> offsets;
  std::span<const std::int32_t> column_of;
  std::span<const double> values;
  ScalarType element = ScalarType::f32;  ///< type that the values are packed in
};

/// Throws std::invalid_argument when the view breaks what is said above. Names the first offending row.
void check(const CsrView& matrix);

}  // namespace esc::transformer
