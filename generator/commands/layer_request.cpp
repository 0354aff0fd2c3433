// SPDX-License-Identifier: Apache-2.0
#include "generator/commands/layer_request.h"

namespace esc {

std::vector<int> architectures_for(const LayerRequest& request) {
  return request.devices.empty() ? default_architectures() : architectures_of(request.devices);
}

TargetDevice wanted_device(const LayerRequest& request) {
  const DatabaseHead& head = shipped_database().head();
  return request.devices.empty() ? TargetDevice{head.device, head.key} : request.devices.front();
}

KernelTarget target_of(const LayerRequest& request) {
  return kernel_target(wanted_device(request).key, architectures_for(request));
}

}  // namespace esc
