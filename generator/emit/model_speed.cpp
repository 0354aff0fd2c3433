// SPDX-License-Identifier: Apache-2.0
#include "generator/emit/model_speed.h"

#include <fmt/format.h>

namespace esc {

void add_expected_times(ModelSpeed& sums, const ModelLayer& layer) {
  for (const ModelVariant& variant : layer.variants) {
    if (const ExpectedTimes times = expected_times(variant.measured); times.layers > 0) {
      const std::string& device = variant.measured->device;  // early manifests have none
      sums[{device.empty() ? fmt::format("sm_{}", variant.capability) : device, variant.bcol}].add(times);
    }
  }
}

bool has_several_capabilities(const ModelLayer& layer) {
  return layer.variants.front().capability != layer.variants.back().capability;
}

std::string speed_over_libraries(const ModelLayer& layer) {
  std::string text;
  for (const ModelVariant& variant : layer.variants) {
    if (variant.measured) {
      text += text.empty() ? "" : ", ";
      text += has_several_capabilities(layer) ? fmt::format("sm_{} ", variant.capability) : "";
      text += fmt::format("{}: {:.2f} x", variant.bcol, *variant.measured->over_exact);
    }
  }
  return text;
}

}  // namespace esc
