// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cudaTypedefs.h>

#include "generator/emit/launch_plan.h"

namespace esc::gpu {

/// B, of elements of 16 bits, as tensor copies of the current device are told of it; zeros where the device has none,
/// before compute capability 9.0. Throws DeviceError.
CUtensorMap describe_boxes(const LaunchPlan::Boxes& boxes, const void* b, long long ldb, unsigned int n);

}  // namespace esc::gpu
