// SPDX-License-Identifier: Apache-2.0
#include "generator/emulate/cuda_api.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "generator/emulate/cuda_calls.h"
#include "generator/emulate/function_address.h"

namespace esc {
namespace {

// Values and layouts as in the stand-in cuda_runtime_api.h and cuda_runtime.h.

enum Error : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kInvalidConfiguration = 9,
  kInvalidPitchValue = 12,
  kInvalidDeviceFunction = 98,
  kInvalidDevice = 101,
  kLaunchOutOfResources = 701,
  kLaunchFailure = 719,
  kNotSupported = 801,
  kUnknown = 999
};

constexpr int kMaxDynamicSharedAttribute = 8;
constexpr int kCarveoutAttribute = 9;
constexpr std::uint64_t kDefaultSharedBytes = 48 * 1024;
constexpr std::uint32_t kMaxBlockThreads = 1024;

/// Not the first one, so that a question about another than the current one is refused.
constexpr int kCurrentDevice = 1;

struct LaunchAttribute {
  std::int32_t id;
  char padding[4];
  union {
    char bytes[64];
    std::int32_t flag;
    std::uint32_t cluster[3];
  } value;
};

struct LaunchConfig {
  Dim3 grid;
  Dim3 block;
  std::uint64_t dynamic_shared;
  void* stream;
  const LaunchAttribute* attributes;
  std::uint32_t attribute_count;
};

struct FunctionAttributes {
  std::uint64_t shared;
  std::uint64_t constant;
  std::uint64_t local;
  std::int32_t max_threads;
  std::int32_t registers;
  std::int32_t ptx_version;
  std::int32_t binary_version;
  std::int32_t cache_mode;
  std::int32_t max_dynamic_shared;
  std::int32_t carveout;
};

int remember(Machine& machine, int error) {
  if (error != kSuccess) {
    machine.last_error = error;
  }
  return error;
}

const ProgramKernel* find_kernel(const Machine& machine, const void* address) {
  const auto& kernels = machine.program().kernels();
  const auto found = std::find_if(kernels.begin(), kernels.end(), [&](const ProgramKernel& kernel) {
    return kernel.address == reinterpret_cast<std::uint64_t>(address);
  });
  return found == kernels.end() ? nullptr : &*found;
}

std::uint64_t dynamic_limit(const Machine& machine, const ProgramKernel& kernel) {
  const auto raised = machine.dynamic_shared_limits.find(kernel.address);
  return raised != machine.dynamic_shared_limits.end()
             ? static_cast<std::uint64_t>(raised->second)
             : kDefaultSharedBytes - std::min(kDefaultSharedBytes, kernel.facts.static_shared);
}

bool is_extent(const Dim3& extent, std::uint32_t x, std::uint32_t y, std::uint32_t z) {
  return extent.x >= 1 && extent.y >= 1 && extent.z >= 1 && extent.x <= x && extent.y <= y && extent.z <= z;
}

constexpr std::int32_t kProgrammatic = 6;

bool is_programmatic(const LaunchConfig& config) {
  return std::any_of(
      config.attributes, config.attributes + config.attribute_count,
      [](const LaunchAttribute& attribute) { return attribute.id == kProgrammatic && attribute.value.flag != 0; });
}

int check_attributes(const Machine& machine, const LaunchConfig& config) {
  constexpr std::int32_t kLastKnown = 8;
  constexpr int kFirstProgrammaticMajor = 9;
  constexpr std::int32_t kCooperative = 2;
  constexpr std::int32_t kCluster = 4;
  for (std::uint32_t index = 0; index < config.attribute_count; ++index) {
    const LaunchAttribute& attribute = config.attributes[index];
    if (attribute.id < 0 || attribute.id > kLastKnown) {
      return kInvalidValue;
    }
    const bool clusters = attribute.id == kCluster && Dim3{attribute.value.cluster[0], attribute.value.cluster[1],
                                                           attribute.value.cluster[2]} != Dim3{};
    const bool too_early = attribute.id == kProgrammatic && attribute.value.flag != 0 &&
                           machine.options().properties.compute_major < kFirstProgrammaticMajor;
    if (clusters || too_early || (attribute.id == kCooperative && attribute.value.flag != 0)) {
      return kNotSupported;
    }
  }
  return kSuccess;
}

int check_launch(const Machine& machine, const LaunchConfig* config, const ProgramKernel* kernel) {
  if (config == nullptr) {
    return kInvalidValue;
  }
  if (kernel == nullptr) {
    return kInvalidDeviceFunction;
  }
  if (!is_extent(config->grid, INT32_MAX, 65535, 65535) || !is_extent(config->block, 1024, 1024, 64) ||
      config->block.volume() > kMaxBlockThreads) {
    return kInvalidConfiguration;
  }
  if (config->block.volume() > kernel->facts.max_threads.value_or(kMaxBlockThreads)) {
    return kLaunchOutOfResources;
  }
  if (config->dynamic_shared > dynamic_limit(machine, *kernel)) {
    return kInvalidValue;
  }
  constexpr int kFirstClusterMajor = 9;
  if (kernel->facts.cluster_blocks > 1) {
    if (machine.options().properties.compute_major < kFirstClusterMajor) {
      return kNotSupported;
    }
    if (config->grid.x % kernel->facts.cluster_blocks != 0) {
      return kInvalidConfiguration;
    }
  }
  return check_attributes(machine, *config);
}

/// Calls `function` with the machine and remembers its error.
template <class Function>
int guarded(const char* name, const Function& function) {
  return guarded_cuda_call(name, [&](Machine& machine) { return remember(machine, function(machine)); });
}

/// On a stream that is not the caller's nothing is in order with what the caller has there.
void check_stream(Machine& machine, const void* stream, const char* what) {
  if (machine.options().stream && *machine.options().stream != stream) {
    machine.report(FaultKind::wrong_stream, machine.site(), what,
                   [&] { return fmt::format("{} on another stream than the caller's", what); });
    machine.stop();
  }
}

int launch(const LaunchConfig* config, const void* kernel_address, void (*enter)(const void*, void**),
           void** arguments) {
  return guarded("cudaLaunchKernelEx", [&](Machine& machine) -> int {
    if (must_fail(machine)) {
      return kUnknown;
    }
    const ProgramKernel* kernel = find_kernel(machine, kernel_address);
    if (const int error = check_launch(machine, config, kernel); error != kSuccess) {
      return error;
    }
    check_stream(machine, config->stream, "launch");
    const Launch launch{kernel, config->grid, config->block, config->dynamic_shared, is_programmatic(*config),
                        enter,  arguments};
    return machine.run_launch(launch) ? kSuccess : kLaunchFailure;
  });
}

int set_function_attribute(const void* kernel_address, int attribute, int value) {
  return guarded("cudaFuncSetAttribute", [&](Machine& machine) -> int {
    const ProgramKernel* kernel = find_kernel(machine, kernel_address);
    if (kernel == nullptr) {
      return kInvalidDeviceFunction;
    }
    if (attribute == kCarveoutAttribute) {
      return kSuccess;
    }
    if (attribute != kMaxDynamicSharedAttribute || value < 0 ||
        static_cast<std::uint64_t>(value) + kernel->facts.static_shared > kMaxSharedBytes) {
      return kInvalidValue;
    }
    machine.dynamic_shared_limits[kernel->address] = value;
    return kSuccess;
  });
}

int get_function_attributes(FunctionAttributes* attributes, const void* kernel_address) {
  return guarded("cudaFuncGetAttributes", [&](Machine& machine) -> int {
    if (must_fail(machine)) {
      return kUnknown;
    }
    ++machine.counters().prepared;
    const ProgramKernel* kernel = find_kernel(machine, kernel_address);
    if (kernel == nullptr) {
      return kInvalidDeviceFunction;
    }
    if (attributes == nullptr) {
      return kInvalidValue;
    }
    machine.prepared_kernels.insert(kernel->facts.name);
    const DeviceProperties& properties = machine.options().properties;
    const int version = properties.compute_major * 10 + properties.compute_minor;
    *attributes = {kernel->facts.static_shared,
                   0,
                   0,
                   static_cast<int>(kernel->facts.max_threads.value_or(kMaxBlockThreads)),
                   32,
                   version,
                   version,
                   0,
                   static_cast<int>(dynamic_limit(machine, *kernel)),
                   -1};
    return kSuccess;
  });
}

/// Fills `height` rows of `width` bytes in one device buffer. An address outside is a fault: on a GPU the fill would
/// fail some time later, or not at all.
int fill(Machine& machine, std::uint64_t base, std::uint64_t pitch, int value, std::uint64_t width,
         std::uint64_t height) {
  if (must_fail(machine)) {
    return kUnknown;
  }
  ++machine.counters().fills;
  if (width == 0 || height == 0) {
    return kSuccess;
  }
  const std::uint64_t bytes = (height - 1) * pitch + width;
  Region* region = machine.memory().find(base, bytes);
  if (region == nullptr) {
    machine.report(FaultKind::out_of_bounds, machine.site(), "fill", [&] {
      return fmt::format("fill of {} bytes {}", bytes, machine.memory().describe_nearest(base, bytes));
    });
    machine.stop();
  }
  if ((region->denied & device_read) != 0) {
    machine.report(FaultKind::forbidden_space, machine.site(), region->name,
                   [&] { return fmt::format("fill of {}, which is not device memory", region->name); });
    machine.stop();
  }
  if ((region->denied & device_write) != 0) {
    machine.report(FaultKind::read_only, machine.site(), region->name,
                   [&] { return fmt::format("fill of {}, which is read-only", region->name); });
    machine.stop();
  }
  for (std::uint64_t row = 0; row < height; ++row) {
    std::memset(reinterpret_cast<void*>(base + row * pitch), value, width);
    region->set_initialised(base + row * pitch, width, true);
  }
  return kSuccess;
}

int memset_async(void* pointer, int value, std::size_t count, void* stream) {
  return guarded("cudaMemsetAsync", [&](Machine& machine) {
    check_stream(machine, stream, "fill");
    return fill(machine, reinterpret_cast<std::uint64_t>(pointer), 0, value, count, 1);
  });
}

int memset_2d_async(void* pointer, std::size_t pitch, int value, std::size_t width, std::size_t height, void* stream) {
  return guarded("cudaMemset2DAsync", [&](Machine& machine) -> int {
    if (width > pitch) {
      return kInvalidPitchValue;
    }
    check_stream(machine, stream, "fill");
    return fill(machine, reinterpret_cast<std::uint64_t>(pointer), pitch, value, width, height);
  });
}

int get_last_error() {
  Machine& machine = active_machine();
  return std::exchange(machine.last_error, static_cast<int>(kSuccess));
}

int peek_at_last_error() { return active_machine().last_error; }

int get_device(int* device) {
  return guarded("cudaGetDevice", [&](Machine&) -> int {
    if (device == nullptr) {
      return kInvalidValue;
    }
    *device = kCurrentDevice;
    return kSuccess;
  });
}

int device_get_attribute(int* value, int attribute, int device) {
  return guarded("cudaDeviceGetAttribute", [&](Machine& machine) -> int {
    if (value == nullptr) {
      return kInvalidValue;
    }
    if (device != kCurrentDevice) {
      return kInvalidDevice;
    }
    const DeviceProperties& properties = machine.options().properties;
    switch (attribute) {
      case 1:
        *value = kMaxBlockThreads;
        return kSuccess;
      case 8:
        *value = kDefaultSharedBytes;
        return kSuccess;
      case 10:
        *value = 32;
        return kSuccess;
      case 16:
        *value = properties.multiprocessors;
        return kSuccess;
      case 39:
        *value = 2048;
        return kSuccess;
      case 75:
        *value = properties.compute_major;
        return kSuccess;
      case 76:
        *value = properties.compute_minor;
        return kSuccess;
      case 81:
        *value = kMaxSharedBytes + 1024;
        return kSuccess;
      case 97:
        *value = kMaxSharedBytes;
        return kSuccess;
      default:
        return kInvalidValue;
    }
  });
}

const char* error_string(int error) {
  switch (error) {
    case kSuccess:
      return "no error";
    case kInvalidValue:
      return "invalid argument";
    case kInvalidConfiguration:
      return "invalid configuration argument";
    case kInvalidPitchValue:
      return "invalid pitch argument";
    case kInvalidDeviceFunction:
      return "invalid device function";
    case kInvalidDevice:
      return "invalid device ordinal";
    case kLaunchOutOfResources:
      return "too many resources requested for launch";
    case kLaunchFailure:
      return "unspecified launch failure";
    case kNotSupported:
      return "operation not supported";
    default:
      return "unrecognized error code";
  }
}

}  // namespace

std::vector<std::pair<std::string, std::uint64_t>> cuda_api_functions() {
  return {
      {"__esc_launch", address_of(&launch)},
      {"__esc_set_function_attribute", address_of(&set_function_attribute)},
      {"__esc_get_function_attributes", address_of(&get_function_attributes)},
      {"cudaMemsetAsync", address_of(&memset_async)},
      {"cudaMemset2DAsync", address_of(&memset_2d_async)},
      {"cudaGetLastError", address_of(&get_last_error)},
      {"cudaPeekAtLastError", address_of(&peek_at_last_error)},
      {"cudaGetDevice", address_of(&get_device)},
      {"cudaDeviceGetAttribute", address_of(&device_get_attribute)},
      {"cudaGetErrorString", address_of(&error_string)},
  };
}

}  // namespace esc
