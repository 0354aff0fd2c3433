// SPDX-License-Identifier: Apache-2.0
#include "generator/commands/layer_request.h"

namespace esc {

std::vector<int> architectures_for(const LayerRequest& request) {
  return request.devices.empty() ? default_architectures() : architectures_of(request.devices);
}

}  // namespace esc
