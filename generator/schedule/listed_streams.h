// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "generator/schedule/layer_class.h"
#include "generator/schedule/schedule_choice.h"
#include "generator/schedule/target.h"

namespace esc {

/// What was the fastest, with listed values, for layers of 16 bits that are larger than a cache and have about half of
/// their elements not zero, with 1 to 16 columns of B in rows: one block for each multiprocessor, from 4096 x 14,336 to
/// 28,672 x 8192. Nothing for others, for GPUs without bulk copies, and for those whose memory gives bytes faster than
/// a multiprocessor finds values.
std::vector<ScheduleChoice> listed_streams(const LayerShape& shape, const KernelTarget& target);

}  // namespace esc
