// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/schedule/bitmap_schedule.h"
#include "generator/schedule/cost.h"
#include "generator/schedule/device_key.h"
#include "generator/schedule/kernel_facts.h"
#include "generator/schedule/layer_class.h"

namespace esc {

/// What a schedule of family bitmap is predicted to take: what auto expects, where a block fits.
Cost bitmap_cost(const BitmapSchedule& schedule, const LayerShape& shape, const DeviceKey& device,
                 const KernelFacts& kernel);

}  // namespace esc
