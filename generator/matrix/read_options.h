// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "generator/ir/scalar_type.h"

namespace esc {

/// How a matrix is read, apart from where it comes from.
struct ReadOptions {
  std::uint64_t seed = 0;        ///< draws the values of formats that hold only a pattern, see `drawn_value`
  bool allow_nonfinite = false;  ///< takes NaN and infinity as values instead of refusing them
  ScalarType element =
      ScalarType::f32;  ///< type that the values get: they are rounded to it, and refused beyond its range
};

}  // namespace esc
