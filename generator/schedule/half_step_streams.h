// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "generator/schedule/layer_class.h"
#include "generator/schedule/schedule_choice.h"
#include "generator/schedule/target.h"

namespace esc {

/// What was the fastest for layers of 16 bits in layout kn that are larger than a cache and have about half of their
/// elements not zero, with 1 to 32 columns of B: half steps of the sparse tensor core, in blocks of as many panels as a
/// multiprocessor has, as each block goes through all of B. The first one, then one in less shared memory; none for
/// other layers, for GPUs before compute capability 9.0, and where listed_streams are faster.
std::vector<ScheduleChoice> half_step_streams(const LayerShape& shape, const KernelTarget& target);

}  // namespace esc
