// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "generator/schedule/device_key.h"
#include "generator/schedule/known_devices.h"

namespace esc {

/// A device that a schedule is wanted for. Figures of its key that are not known are 0.
struct TargetDevice {
  std::string name;  ///< "h200" or "sm_90", as a user names it
  DeviceKey key;
};

/// CUDA architectures for which a bundle is built when the user names none: the ones of the A100 and of the H100 and
/// H200.
std::vector<int> default_architectures();

/// Architectures that bundles are built for, ascending: those of CUDA 13.0.
const std::vector<int>& known_architectures();

/// 90 for "sm_90" or "90". Throws UserError, with the architectures that are known, for anything else.
int parse_architecture(const std::string& text);

/// "a100", "H200". Throws UserError with the names that are known, and how another GPU becomes known.
TargetDevice device_of_gpu(const std::string& name);
/// The same among devices that are given.
TargetDevice device_of_gpu(const std::string& name, const KnownDevices& devices);

/// The architectures of some devices, ascending, each once.
std::vector<int> architectures_of(const std::vector<TargetDevice>& devices);

/// 80 for "a100", 90 for "h200", in upper or lower case. Throws UserError with the names that are known.
int architecture_of_gpu(const std::string& name);

/// Some device of this architecture, of which nothing else is known.
TargetDevice device_of_architecture(int architecture);

/// Whether it is such, and no GPU of a name.
bool is_architecture(const TargetDevice& device);

/// "sm_80 and sm_90".
std::string names_of_architectures(const std::vector<int>& architectures);

/// Whether predicted times were corrected by kernels of such a device: an H100 or an H200.
bool has_measurements_of(const DeviceKey& device);

/// What a kernel may count on that is built for several architectures, and the device that it is made for.
struct KernelTarget {
  int oldest_architecture = 90;
  int newest_architecture = 90;
  std::uint64_t shared_bytes = 227 * 1024;    ///< of a block, on each of the architectures
  DeviceKey device = {90, 132, 60ULL << 20};  ///< that one; an H200's figures where they are not known
};

/// The target of a kernel that is made for a device, and built for these architectures too. A device of unknown size
/// counts as an H200.
KernelTarget kernel_target(const DeviceKey& device, const std::vector<int>& architectures);

/// Bytes of shared memory that a block of this architecture can have; those of the smallest for one that is not known.
std::uint64_t shared_bytes_per_block(int architecture);

}  // namespace esc
