// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "generator/schedule/layer_class.h"
#include "generator/schedule/schedule_choice.h"
#include "generator/schedule/target.h"

namespace esc {

/// Panels of 32 rows, which read a row of B once for the products of both halves, where that was the fastest for layers
/// of 16 bits that are larger than a cache: with 32 columns of B on GPUs with fast memory, beside which shared memory
/// binds, and around 80 % zeros with 8 and 16 columns. Nothing for others, for blocks of other numbers of panels, and
/// for GPUs without bulk copies.
std::vector<ScheduleChoice> high_panel_streams(const LayerShape& shape, const KernelTarget& target);

}  // namespace esc
