// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "generator/schedule/layer_class.h"
#include "generator/schedule/schedule_choice.h"
#include "generator/schedule/target.h"

namespace esc {

/// What was the fastest for layers of 16 bits that a cache holds, from 2048 x 2048 on, with one column of B and up to
/// about 80 % zeros: blocks of as many panels as a multiprocessor has, up to four, with four warps each; two panels, or
/// four, as one or two of 32 rows. The first one, then one in less shared memory; none for other layers, and for GPUs
/// before compute capability 9.0.
std::vector<ScheduleChoice> one_column_streams(const LayerShape& shape, const KernelTarget& target);

/// The choices for a layer of 16 bits with one column of B, where those that stream it for 8 columns do so for the one
/// by itself. Each says so. On one NVIDIA H200 that took 0.78 to 1.0 of the time
/// (docs/journal/2026-11-28-one-column.md). Blocks and warps that share windows stay as they are, and panels of 32 rows
/// in quarter steps, which were slower so.
std::vector<ScheduleChoice> with_one_column(std::vector<ScheduleChoice> choices, const LayerShape& shape);

}  // namespace esc
