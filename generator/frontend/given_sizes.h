// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "generator/ir/affine.h"

namespace esc {

/// What is known of a function's sizes beside its text, which makes numbers of parameters.
struct GivenSizes {
  Environment named = {};  ///< --size: parameters by name
  /// The extents of weights that are stored with more than two dimensions: those of the first array parameter that has
  /// as many. Empty: none.
  std::vector<std::int64_t> weights = {};
};

}  // namespace esc
