// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "generator/schedule/layer_class.h"
#include "generator/schedule/schedule_choice.h"

namespace esc {

/// The choices for a layer of 16 bits with one column of B, where those that stream it for 8 columns do so for the one by itself. Each says so. On one NVIDIA H200 that took 0.78 to 1.0 of the time
/// (docs/performance.md). Blocks and warps that share windows stay as they are.
std::vector<ScheduleChoice> with_one_column(std::vector<ScheduleChoice> choices, const LayerShape& shape);

}  // namespace esc
