// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "generator/schedule/device_key.h"

namespace esc {

/// A figure of a device, and where it is known from.
struct Figure {
  double value = 0;
  bool measured = false;
  std::string source;
  bool operator==(const Figure&) const = default;
};

/// What is known of a GPU. Figures that are not settled are absent; in the key they are 0.
struct Device {
  std::string name;     ///< "h200", as users name it
  std::string product;  ///< "NVIDIA H200 SXM"
  DeviceKey key;
  bool has_measurements = false;  ///< whether kernels were measured on it, by which predictions are corrected
  std::optional<Figure> fp32_gigaflops = {};    ///< FMA units, two operations per FMA
  std::optional<Figure> tf32_gigaflops = {};    ///< tensor cores, dense, which add up in float32
  std::optional<Figure> f16_gigaflops = {};     ///< the same
  std::optional<Figure> memory_gigabytes = {};  ///< per second
  std::optional<Figure> l2_gigabytes = {};      ///< per second, from the L2 cache to all multiprocessors
  bool operator==(const Device&) const = default;
};

/// The device in the text of a file of devices/. Throws UserError (place: file and line) for anything else.
Device parse_device(std::string_view text, const std::string& file);

/// The devices of this program, by name.
const std::vector<Device>& known_devices();

/// Their names, in the same order.
std::vector<std::string> gpu_names();

/// The one whose key this is, with all figures known; null where there is none.
const Device* known_device(const DeviceKey& key);

}  // namespace esc
