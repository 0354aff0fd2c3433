// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/schedule/gather_schedule.h"
#include "tuner/records/record.h"
#include "tuner/space/cost.h"

namespace esc::tuning {

/// What a schedule of family gather is predicted to take: a step of a warp, in which four rows of A take a row of B
/// each, has four cycles of shared memory for these and half of one for the lists, and all else stands beside. By what
/// a prototype of the kernel took on one H200 (docs/journal/2026-11-27-few-non-zeros.md), within 15 % there.
Cost gather_cost(const GatherSchedule& schedule, const WorkItem& item, const KernelFacts& kernel);

}  // namespace esc::tuning
