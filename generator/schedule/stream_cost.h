// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/schedule/cost.h"
#include "generator/schedule/device_key.h"
#include "generator/schedule/kernel_facts.h"
#include "generator/schedule/layer_class.h"
#include "generator/schedule/stream_schedule.h"

namespace esc {

/// What a schedule of family stream is predicted to take: its multiprocessors read packed tiles of weights from memory
/// one after the other, whatever the non-zeros are, so that it has no chain of loads and few instructions to count.
/// Constants are those of float32 and TF32 on one H200 and one H100.
Cost stream_cost(const StreamSchedule& schedule, const LayerShape& shape, const DeviceKey& device,
                 const KernelFacts& kernel);

}  // namespace esc
