// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "generator/schedule/device_catalog.h"
#include "generator/schedule/layer_class.h"
#include "generator/schedule/target.h"

namespace esc {

/// A product of a layer, with how often it is computed beside the layer's other ones.
struct WeightedShape {
  LayerShape shape;
  double weight = 1;
};

/// The form (packed_form) in which one packed matrix serves all products of a layer in the least time, each as often as
/// it weighs: by the fastest schedule of the form for each. Of forms that are expected to be larger than the dense
/// matrix only where all are. Empty where no form has a schedule for each product.
std::string shared_form(const std::vector<WeightedShape>& products, const KernelTarget& target,
                        const DeviceCatalog& catalog = shipped_catalog());

}  // namespace esc
