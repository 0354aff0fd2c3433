// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/target.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>

#include "generator/schedule/known_devices.h"
#include "generator/support/closest_word.h"
#include "generator/support/error.h"

namespace esc {
std::vector<int> default_architectures() { return {80, 90}; }

const std::vector<int>& known_architectures() {
  static const std::vector<int> architectures{75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121};
  return architectures;
}

int parse_architecture(const std::string& text) {
  std::vector<std::string> names;
  for (const int architecture : known_architectures()) {
    names.push_back(fmt::format("sm_{}", architecture));
    if (text == names.back() || "sm_" + text == names.back()) {
      return architecture;
    }
  }
  throw UserError("--arch " + text, "is not a CUDA architecture that bundles are built for",
                  fmt::format("write it as in sm_90: one of {}", fmt::join(names, ", ")));
}

TargetDevice device_of_gpu(const std::string& name) { return device_of_gpu(name, shipped_devices()); }

TargetDevice device_of_gpu(const std::string& name, const KnownDevices& devices) {
  std::string lower = name;
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  if (const Device* const device = devices.named(lower)) {
    return {lower, device->key};
  }
  const std::vector<std::string> names = devices.names();
  throw UserError(
      "--gpu " + name, "is not a GPU that is known here",
      fmt::format("{}use --arch, or one of {}; for another GPU run esctune calibrate -o FOLDER on a machine with it, "
                  "then give --database FOLDER",
                  did_you_mean(name, names), fmt::join(names, ", ")));
}

std::vector<int> architectures_of(const std::vector<TargetDevice>& devices) {
  std::set<int> architectures;
  for (const TargetDevice& device : devices) {
    architectures.insert(device.key.capability);
  }
  return {architectures.begin(), architectures.end()};
}

int architecture_of_gpu(const std::string& name) { return device_of_gpu(name).key.capability; }

TargetDevice device_of_architecture(int architecture) {
  return {fmt::format("sm_{}", architecture), {architecture, 0, 0}};
}

bool is_architecture(const TargetDevice& device) { return device.name.starts_with("sm_"); }

std::string names_of_architectures(const std::vector<int>& architectures) {
  std::string names;
  for (std::size_t at = 0; at < architectures.size(); ++at) {
    names += at == 0 ? "" : at + 1 == architectures.size() ? " and " : ", ";
    names += fmt::format("sm_{}", architectures[at]);
  }
  return names;
}

bool has_measurements_of(const DeviceKey& device) {
  const Device* const known = known_device(device);
  return known != nullptr && known->has_measurements;
}

KernelTarget kernel_target(const DeviceKey& device, const std::vector<int>& architectures) {
  KernelTarget target;
  if (device.multiprocessors > 0) {
    target.device.multiprocessors = device.multiprocessors;
  }
  if (device.l2_bytes > 0) {
    target.device.l2_bytes = device.l2_bytes;
  }
  if (device.capability > 0) {
    target.device.capability = device.capability;
  }
  std::vector<int> named = architectures;
  if (device.capability > 0) {
    named.push_back(device.capability);
  }
  if (!named.empty()) {
    const auto [oldest, newest] = std::ranges::minmax(named);
    target.oldest_architecture = oldest;
    target.newest_architecture = newest;
    target.shared_bytes = shared_bytes_per_block(
        *std::ranges::min_element(named, {}, [](int architecture) { return shared_bytes_per_block(architecture); }));
  }
  return target;
}

std::uint64_t shared_bytes_per_block(int architecture) {
  constexpr std::uint64_t kibibyte = 1024;
  switch (architecture) {
    case 75:
      return 64 * kibibyte;
    case 70:
    case 72:
      return 96 * kibibyte;
    case 80:
    case 87:
      return 163 * kibibyte;
    case 90:
    case 100:
    case 103:
    case 110:
      return 227 * kibibyte;
    default:
      return 99 * kibibyte;
  }
}

}  // namespace esc
