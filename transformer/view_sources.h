#pragma once

#include <cstdint>

#include "transformer/matrix_view.h"
#include "transformer/panel_sources.h"

namespace esc::transformer {

/// A view as the packing text reads it.
inline CsrRows<std::int64_t, float> source_of(const CsrView& matrix) {
  return {matrix.offsets.data(), matrix.column_of.data(), matrix.values.data()};
}

}  // namespace esc::transformer
