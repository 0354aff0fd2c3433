// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "generator/schedule/layer_class.h"
#include "generator/schedule/schedule_choice.h"
#include "generator/schedule/target.h"

namespace esc {

/// What was the fastest for float32 and TF32 layers of 2^24 elements and 4096 columns of A and more that have too few
/// non-zeros for gathered_rows, 0.8 to 9 % (4096 x 4096 with 32 columns: 12 %), and whose rows of equal lengths go
/// through 32 to 255 columns of B in layout kn: a warp for each row, or for two or four of them, which reads B through
/// the cache. Classes of smaller layers, whose B stays in it whole, speak of panels that several warps share. One
/// choice, or none for layers unlike those that were measured and for GPUs before compute capability 9.0.
std::vector<ScheduleChoice> sparse_panels(const LayerShape& shape, const KernelTarget& target);

}  // namespace esc
