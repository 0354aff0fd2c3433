// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/compare_with_dense.h"

#include <cmath>

#include "generator/schedule/dense_cost.h"

namespace esc {

std::optional<DenseComparison> compare_with_dense(const LayerShape& shape, const Schedule& schedule,
                                                  const TargetDevice& device, const DeviceCatalog& catalog) {
  const Device* const gpu = catalog.devices().find(device.key);
  if (gpu == nullptr || !catalog.has_measurements_of(device.key) || (shape.layout != "kn" && shape.layout != "nk")) {
    return std::nullopt;
  }
  const double kernel = catalog.model(device.key).expected_microseconds(schedule, shape, device.key);
  const std::optional<double> dense = dense_microseconds(shape, *gpu);
  if (!dense || !std::isfinite(kernel)) {
    return std::nullopt;
  }
  // Manifests have them, which must be the same whatever library computes a power.
  const auto rounded = [](double microseconds) { return std::round(100 * microseconds) / 100; };
  return DenseComparison{.kernel = rounded(kernel), .dense = rounded(*dense), .device = gpu->product};
}

}  // namespace esc
