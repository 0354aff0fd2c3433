// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <utility>

#include "generator/schedule/layer_class.h"

namespace esc::test {

/// A layer with so large a share of non-zeros in rows of equal lengths.
inline LayerShape layer_of(std::int64_t rows, std::int64_t columns, double density, long long bcol,
                           std::string dtype = "f32") {
  return {.bcol = bcol,
          .rows = rows,
          .columns = columns,
          .nonzeros = static_cast<std::int64_t>(static_cast<double>(rows * columns) * density),
          .dtype = std::move(dtype)};
}

inline std::string print(const LayerShape& shape) {
  return fmt::format("{} x {}, {} non-zeros, bCol {}, {}", shape.rows, shape.columns, shape.nonzeros, shape.bcol,
                     shape.dtype);
}

}  // namespace esc::test
