// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "generator/schedule/layer_class.h"
#include "generator/schedule/schedule.h"
#include "generator/schedule/target.h"

namespace esc {

/// What was measured of kernels of family bitmap beside dense products.
struct BitmapSpeed {
  double over_dense = 0;  ///< time of cuBLASLt's dense product over that of the kernel
  std::string where;      ///< "4096 x 4096 with 60 % zeros and 64 columns"
  TargetDevice device;
  bool is_like = false;  ///< whether the layer is about as large and as sparse
};

/// Of the layer that is the most like this one among those that were measured. None for schedules of other families.
std::optional<BitmapSpeed> bitmap_speed(const LayerShape& shape, const Schedule& schedule);

/// The same as a sentence for the user.
std::string describe(const BitmapSpeed& known);

}  // namespace esc
