// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "generator/schedule/layer_class.h"
#include "generator/schedule/scheduler.h"

namespace esc {

/// Whether a layer of 16 bits that is streamed takes less time with quarter steps: where its elements do not stay in the cache, so that fewer bytes are less time, and
/// has zeros enough for such steps. Measured on one NVIDIA H100, 8 to 32 columns of 8192 x 8192 (docs/performance.md).
bool pays_in_quarters(const LayerShape& shape);

/// The choices with quarter steps in those that stream such a layer, each of which says so.
std::vector<ScheduleChoice> with_quarter_steps(std::vector<ScheduleChoice> choices, const LayerShape& shape);

}  // namespace esc
