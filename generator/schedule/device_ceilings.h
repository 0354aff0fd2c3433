// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "generator/schedule/device_key.h"
#include "generator/schedule/known_devices.h"

namespace esc {

/// What a device can do at most, and where that is known from.
struct DeviceCeilings {
  std::string name;                    ///< of the product with this key
  double fp32_gigaflops = 0;           ///< FMA units, dense float32, two operations per FMA
  double memory_gigabytes = 0;         ///< per second
  std::optional<double> l2_gigabytes;  ///< per second, from the L2 cache to all multiprocessors
  std::string source;
};

/// Absent for devices that are not among the known ones: then they are said to be not known.
std::optional<DeviceCeilings> device_ceilings(const DeviceKey& device, const KnownDevices& devices = shipped_devices());

}  // namespace esc
