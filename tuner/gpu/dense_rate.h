// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>

#include "tuner/gpu/device.h"
#include "tuner/gpu/graph_timer.h"

namespace esc::gpu {

/// What tensor cores multiply, with sums in float32.
enum class DenseElements { tf32, f16 };

/// Operations a microsecond of the fastest product of cuBLASLt of two square matrices of zeros with so many rows.
/// Absent where the library has none for this device. Throws DeviceError.
std::optional<double> dense_operations(DenseElements elements, std::size_t rows, const Stream& stream,
                                       GraphTimer& timer);

}  // namespace esc::gpu
