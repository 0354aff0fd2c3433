// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
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

/// The rates of a device by their names in files, which may be absent.
template <typename DeviceOrConst>
auto figures_of(DeviceOrConst& device) {
  return std::array{
      std::pair{"fp32_gigaflops", &device.fp32_gigaflops}, std::pair{"tf32_gigaflops", &device.tf32_gigaflops},
      std::pair{"f16_gigaflops", &device.f16_gigaflops}, std::pair{"memory_gigabytes", &device.memory_gigabytes},
      std::pair{"l2_gigabytes", &device.l2_gigabytes}};
}

/// Throws UserError with the place for what `--gpu` cannot take: lower-case letters, digits, - and . are a name.
void require_gpu_name(std::string_view name, const std::string& place);

/// The device in the text of a file of devices/. Throws UserError (place: file and line) for anything else.
Device parse_device(std::string_view text, const std::string& file);

/// The text of such a file: parse_device(print(device)) == device.
std::string print(const Device& device);

/// GPUs by name, each once: those of this program, and a user's laid over them.
class KnownDevices {
 public:
  /// Those of this program.
  KnownDevices();

  /// Lays a user's over them, which the file says: it takes the place of one of its name, and gets the figures that are
  /// known of a GPU with its key and that it lacks. Throws UserError (place: the file) where the name is that of a GPU
  /// with another key.
  void add(Device own, const std::string& file);

  const std::vector<Device>& all() const { return devices_; }
  std::vector<std::string> names() const;
  /// Null where there is none of this name.
  const Device* named(std::string_view name) const;
  /// The one whose key this is, with all figures known, a user's before those of this program; null where there is
  /// none.
  const Device* find(const DeviceKey& key) const;

 private:
  std::vector<Device> devices_;
  std::set<std::string> own_;  ///< names of the user's
};

const KnownDevices& shipped_devices();

/// The devices of this program, by name.
const std::vector<Device>& known_devices();

/// Their names, in the same order.
std::vector<std::string> gpu_names();

/// The one of them whose key this is, with all figures known; null where there is none.
const Device* known_device(const DeviceKey& key);

/// Gigabytes a second of its memory, as a data sheet says them: of a figure that was measured, what a sheet would say.
std::optional<double> nominal_memory_gigabytes(const Device& device);

}  // namespace esc
