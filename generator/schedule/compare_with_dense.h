// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "generator/schedule/dense_comparison.h"
#include "generator/schedule/layer_class.h"
#include "generator/schedule/schedule.h"
#include "generator/schedule/target.h"

namespace esc {

/// A kernel beside a dense product, by measurements of layers like this one on the device where there are any; else
/// predicted, for devices to which the cost model was fitted. Nothing for others, and for layouts of B and C other than
/// kn and nk.
std::optional<DenseComparison> compare_with_dense(const LayerShape& shape, const Schedule& schedule,
                                                  const TargetDevice& device);

}  // namespace esc
