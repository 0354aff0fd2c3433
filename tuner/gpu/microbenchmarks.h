// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tuner/gpu/device.h"
#include "tuner/gpu/graph_timer.h"
#include "tuner/records/device_rates.h"

namespace esc::gpu {

/// What the device does in a second, each the best of several launches: reading memory and the L2 cache, float32 on the
/// FMA units, and dense products of cuBLASLt, which take zeros so that the device keeps its clock. Takes some seconds
/// and at most an eighth of the device's memory, or 4 GiB. Throws DeviceError.
tuning::DeviceRates measure_rates(const DeviceFacts& device, const Stream& stream, GraphTimer& timer);

}  // namespace esc::gpu
