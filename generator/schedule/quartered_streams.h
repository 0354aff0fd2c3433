// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "generator/schedule/layer_class.h"
#include "generator/schedule/schedule_choice.h"
#include "generator/schedule/target.h"

namespace esc {

/// What was the fastest, with quarter steps, for such layers with 1 to 32 columns of B in rows, from 8192 x 8192 and
/// 11,008 x 4096 to 28,672 x 8192 and at 70 to 90 % zeros; nothing for others, of few rows too, and for GPUs without
/// bulk copies.
std::vector<ScheduleChoice> quartered_streams(const LayerShape& shape, const KernelTarget& target);

/// The choices with quarter steps in those that stream such a layer by panels of 16 rows, each of which says so: with
/// 32 rows whole steps were faster up to 70 % zeros, and were chosen.
std::vector<ScheduleChoice> with_quarter_steps(std::vector<ScheduleChoice> choices, const LayerShape& shape);

}  // namespace esc
