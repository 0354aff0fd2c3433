// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "generator/schedule/layer_class.h"
#include "generator/schedule/schedule_choice.h"
#include "generator/schedule/target.h"

namespace esc {

/// What was the fastest for layers of 16 bits in layout kn that have 2^14 columns and more, several times as many bytes as a cache and 40 % non-zeros or more, with 1 to 32 columns of B: steps of
/// the sparse tensor core, whose bytes come as fast as memory gives them, where listed values of half as many are found more slowly; and blocks of as many panels as a multiprocessor has, as each
/// block goes through all of B. The first one, then one in less shared memory; none for other layers and for GPUs before compute capability 9.0.
std::vector<ScheduleChoice> wide_streams(const LayerShape& shape, const KernelTarget& target);

}  // namespace esc
