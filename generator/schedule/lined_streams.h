// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "generator/schedule/layer_class.h"
#include "generator/schedule/schedule_choice.h"
#include "generator/schedule/target.h"

namespace esc {

/// What was the fastest for layers of 16 bits in layout kn that a cache holds, where B has as many columns as a block
/// computes, 8, 16 or 32, so that its windows come as lines of several rows (line_rows_of_boxes): blocks of as many
/// panels as a multiprocessor has, with two turns at least for each of their warps. The first one, then one in less
/// shared memory; none for other layers, and for GPUs before compute capability 9.0.
std::vector<ScheduleChoice> lined_streams(const LayerShape& shape, const KernelTarget& target);

}  // namespace esc
