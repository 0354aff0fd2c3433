// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "generator/schedule/layer_class.h"
#include "generator/schedule/schedule.h"
#include "generator/schedule/target.h"

namespace esc {

/// Columns of B up to which schedules for elements of 16 bits were searched for, but those of family bitmap: a kernel
/// for more goes through them in tiles of this width.
inline constexpr long long most_tuned_half_columns = 32;

/// What was measured of kernels in 16 bits beside dense products alone.
struct HalfSpeed {
  double over_dense = 0;  ///< time of cuBLASLt's dense product over that of the kernel
  std::string where;      ///< "4096 x 4096 with 60 % zeros and 64 columns"
  TargetDevice device;
  bool is_like = false;  ///< whether the layer is about as large and as sparse
};

/// Of the layer that is the most like this one among those that were measured with such kernels: those of family bitmap
/// with any number of columns, others with more than were tuned for. None for other types.
std::optional<HalfSpeed> half_speed(const LayerShape& shape, const Schedule& schedule);

/// The same as a sentence for the user.
std::string describe(const HalfSpeed& known, const LayerShape& shape, const Schedule& schedule);

}  // namespace esc
