// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/schedule/cost.h"
#include "generator/schedule/device_key.h"
#include "generator/schedule/gather_schedule.h"
#include "generator/schedule/kernel_facts.h"
#include "generator/schedule/layer_class.h"

namespace esc {

/// What a schedule of family gather is predicted to take: a step of a warp, in which four rows of A take a row of B
/// each, has four cycles of shared memory for these and half of one for the lists, and all else is beside. By what
/// a prototype of the kernel took on one H200 (docs/journal/2026-11-27-few-non-zeros.md), within 15 % there.
Cost gather_cost(const GatherSchedule& schedule, const LayerShape& shape, const DeviceKey& device,
                 const KernelFacts& kernel);

}  // namespace esc
