// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "generator/schedule/known_devices.h"
#include "tuner/records/device_rates.h"

namespace esc::tuning {

/// What `--gpu` is to take for a device: the name of this program where it knows one with the key, else the product's,
/// "h100-pcie" for "NVIDIA H100 PCIe".
std::string gpu_name(const DeviceKey& key, const std::string& product);

/// The device of that name with the figures that microbenchmarks have measured.
Device calibrated_device(const std::string& name, const RatesRecord& measured);

}  // namespace esc::tuning
