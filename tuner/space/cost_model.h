// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "generator/schedule/schedule.h"
#include "tuner/records/record.h"
#include "tuner/space/cost.h"

namespace esc::tuning {

/// What a schedule is predicted to take for an item, warm, by plain edges. It is made to rank the schedules of one
/// item, not to tell their times: constants are those of an H200, where they were fitted to the fastest schedules of
/// 1,122 pairs of a layer and a bCol; of other devices it knows the multiprocessors and what resides on one. `kernel`
/// replaces the estimate of what the kernel needs, once it has been compiled. Infinite where the kernel cannot reside
/// on a multiprocessor at all.
Cost predicted_cost(const Schedule& schedule, const WorkItem& item, const std::optional<KernelFacts>& kernel = {});

}  // namespace esc::tuning
