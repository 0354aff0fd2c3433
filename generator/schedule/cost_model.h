// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "generator/schedule/cost.h"
#include "generator/schedule/device_key.h"
#include "generator/schedule/kernel_facts.h"
#include "generator/schedule/layer_class.h"
#include "generator/schedule/schedule.h"

namespace esc {

/// What a schedule is predicted to take for a layer, warm, by plain edges. Constants were fitted to the kernels of one
/// H200 and one H100 in tests/bench/journals; of other devices it knows the multiprocessors and what resides on one.
/// `kernel` replaces the estimate of what the kernel needs, once it has been compiled. Infinite where the kernel cannot
/// reside on a multiprocessor at all.
Cost predicted_cost(const Schedule& schedule, const LayerShape& shape, const DeviceKey& device,
                    const std::optional<KernelFacts>& kernel = {});

}  // namespace esc
