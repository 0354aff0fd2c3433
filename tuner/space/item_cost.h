// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "generator/schedule/cost_model.h"
#include "generator/schedule/kernel_estimate.h"
#include "tuner/records/record.h"

namespace esc::tuning {

/// What the model of esc says of an item.
inline Cost predicted_cost(const Schedule& schedule, const WorkItem& item,
                           const std::optional<KernelFacts>& kernel = {}) {
  return esc::predicted_cost(schedule, shape_of(item), item.device, kernel);
}
inline KernelFacts estimated_kernel(const Schedule& schedule, const WorkItem& item) {
  return esc::estimated_kernel(schedule, shape_of(item));
}

}  // namespace esc::tuning
