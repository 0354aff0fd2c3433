// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "generator/schedule/schedule.h"
#include "tuner/records/record.h"
#include "tuner/space/cost.h"

namespace esc::tuning {

/// What a schedule is predicted to take for an item, warm, by plain edges. Constants were
/// fitted to the kernels of one H200 and one H100 in tests/bench/journals: half of the predictions are within 9 %. Of
/// other devices it knows the multiprocessors and what resides on one. `kernel`
/// replaces the estimate of what the kernel needs, once it has been compiled. Infinite where the kernel cannot reside
/// on a multiprocessor at all.
Cost predicted_cost(const Schedule& schedule, const WorkItem& item, const std::optional<KernelFacts>& kernel = {});

}  // namespace esc::tuning
