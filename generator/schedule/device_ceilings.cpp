// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/device_ceilings.h"

#include <fmt/format.h>

namespace esc {

std::optional<DeviceCeilings> device_ceilings(const DeviceKey& key, const KnownDevices& devices) {
  const Device* const device = devices.find(key);
  if (device == nullptr || !device->fp32_gigaflops || !device->memory_gigabytes) {
    return std::nullopt;
  }
  DeviceCeilings ceilings{
      .name = device->product,
      .fp32_gigaflops = device->fp32_gigaflops->value,
      .memory_gigabytes = device->memory_gigabytes->value,
      .l2_gigabytes = {},
      .source = fmt::format("{}; {}", device->fp32_gigaflops->source, device->memory_gigabytes->source)};
  if (device->l2_gigabytes) {
    ceilings.l2_gigabytes = device->l2_gigabytes->value;
    ceilings.source += fmt::format("; L2: {}", device->l2_gigabytes->source);
  }
  return ceilings;
}

}  // namespace esc
