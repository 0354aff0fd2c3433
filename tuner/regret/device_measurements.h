// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "generator/schedule/measured_products.h"
#include "tuner/regret/measured_items.h"

namespace esc::tuning {

/// What was measured on each device, by its key, thinned.
std::vector<DeviceMeasurements> device_measurements(const std::vector<MeasuredItem>& items);

}  // namespace esc::tuning
