// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "generator/schedule/dense_comparison.h"
#include "generator/schedule/device_catalog.h"
#include "generator/schedule/layer_class.h"
#include "generator/schedule/schedule.h"
#include "generator/schedule/target.h"

namespace esc {

/// A kernel beside a dense product, for devices on which kernels were measured, by which predictions are corrected.
/// Nothing for others, and for layouts of B and C other than kn and nk.
std::optional<DenseComparison> compare_with_dense(const LayerShape& shape, const Schedule& schedule,
                                                  const TargetDevice& device,
                                                  const DeviceCatalog& catalog = shipped_catalog());

}  // namespace esc
