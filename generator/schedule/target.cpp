// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/target.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>

#include "generator/schedule/device_ceilings.h"
#include "generator/schedule/gpu_names.h"
#include "generator/support/closest_word.h"
#include "generator/support/error.h"

namespace esc {
namespace {

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;

/// Compute capability, multiprocessors and bytes of the L2 cache as the CUDA runtime reports them. Of boards that
/// differ, the largest: of the H100 the SXM5 one. 0 where a board's figures are not settled here.
const std::map<std::string, DeviceKey>& known_gpus() {
  static const std::map<std::string, DeviceKey> gpus{{"t4", {75, 40, 4 * mebibyte}},
                                                     {"a100", {80, 108, 40 * mebibyte}},
                                                     {"a30", {80, 56, 24 * mebibyte}},
                                                     {"a10", {86, 72, 6 * mebibyte}},
                                                     {"a40", {86, 84, 6 * mebibyte}},
                                                     {"rtx3090", {86, 82, 6 * mebibyte}},
                                                     {"l4", {89, 58, 48 * mebibyte}},
                                                     {"l40", {89, 142, 96 * mebibyte}},
                                                     {"l40s", {89, 142, 96 * mebibyte}},
                                                     {"rtx4090", {89, 128, 72 * mebibyte}},
                                                     {"h100", {90, 132, 50 * mebibyte}},
                                                     {"h200", {90, 132, 60 * mebibyte}},
                                                     {"gh200", {90, 132, 0}},
                                                     {"b200", {100, 148, 0}},
                                                     {"gb200", {100, 0, 0}},
                                                     {"b300", {103, 0, 0}},
                                                     {"rtx5090", {120, 170, 96 * mebibyte}}};
  return gpus;
}

}  // namespace

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

std::vector<std::string> gpu_names() {
  std::vector<std::string> names;
  for (const auto& [name, key] : known_gpus()) {
    names.push_back(name);
  }
  return names;
}

TargetDevice device_of_gpu(const std::string& name) {
  std::string lower = name;
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  const auto found = known_gpus().find(lower);
  if (found != known_gpus().end()) {
    return {lower, found->second};
  }
  const std::vector<std::string> names = gpu_names();
  throw UserError("--gpu " + name, "is not a GPU that is known here",
                  fmt::format("{}use --arch, or one of {}", did_you_mean(name, names), fmt::join(names, ", ")));
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

bool has_rules_for(const DeviceKey& device) {
  return device == known_gpus().at("h100") || device == known_gpus().at("h200");
}

KernelTarget kernel_target(const DeviceKey& device, const std::vector<int>& architectures) {
  KernelTarget target;
  if (device.multiprocessors > 0) {
    target.multiprocessors = device.multiprocessors;
  }
  if (const std::optional<DeviceCeilings> ceilings = device_ceilings(device)) {
    target.memory_gigabytes = ceilings->memory_gigabytes;
  }
  const auto narrow = [&](int architecture) {
    target.oldest_architecture = std::min(target.oldest_architecture, architecture);
    target.newest_architecture = std::max(target.newest_architecture, architecture);
    target.shared_bytes = std::min(target.shared_bytes, shared_bytes_per_block(architecture));
  };
  if (device.capability > 0) {
    narrow(device.capability);
  }
  std::ranges::for_each(architectures, narrow);
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
