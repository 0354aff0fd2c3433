// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "generator/schedule/layer_class.h"
#include "generator/schedule/schedule_choice.h"
#include "generator/schedule/target.h"

namespace esc {

/// What was the fastest for float32 layers of 2^24 elements and more with 3 to 9 % non-zeros, whose rows of equal lengths go through 128 columns of B and more in layout kn: a row for each warp, which
/// reads B through the cache. Classes of smaller layers, whose B stays in it whole, speak of panels that several warps share. One choice, or none for other layers and for GPUs before
/// compute capability 9.0.
std::vector<ScheduleChoice> sparse_panels(const LayerShape& shape, const KernelTarget& target);

}  // namespace esc
