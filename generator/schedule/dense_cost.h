// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "generator/schedule/known_devices.h"
#include "generator/schedule/layer_class.h"

namespace esc {

/// What cuBLASLt's fastest dense product is predicted to take for a layer, its zeros multiplied too, in its element
/// type (f32 exactly): microseconds of one launch. A warm cache has operands that fit into it. Nothing for other types,
/// and where the device's rates are not known.
std::optional<double> dense_microseconds(const LayerShape& shape, const Device& device);

}  // namespace esc
