// SPDX-License-Identifier: Apache-2.0
#include "tuner/gpu/sm_clock.h"

#include <dlfcn.h>

namespace esc::gpu {
namespace {

/// From NVML's stable binary interface; the toolkit need not bring its header.
constexpr int nvml_success = 0;
constexpr unsigned int nvml_clock_sm = 1;

template <typename Function>
Function find(void* library, const char* name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

}  // namespace

SmClock::SmClock(const std::string& bus_id) : library_(dlopen("libnvidia-ml.so.1", RTLD_NOW)) {
  if (library_ == nullptr) {
    return;
  }
  const auto init = find<int (*)()>(library_, "nvmlInit_v2");
  const auto find_device = find<int (*)(const char*, void**)>(library_, "nvmlDeviceGetHandleByPciBusId_v2");
  get_clock_ = find<decltype(get_clock_)>(library_, "nvmlDeviceGetClockInfo");
  if (init == nullptr || find_device == nullptr || init() != nvml_success ||
      find_device(bus_id.c_str(), &device_) != nvml_success) {
    get_clock_ = nullptr;
  }
}

SmClock::~SmClock() {
  if (library_ != nullptr) {
    dlclose(library_);
  }
}

int SmClock::megahertz() const {
  unsigned int clock = 0;
  return get_clock_ != nullptr && get_clock_(device_, nvml_clock_sm, &clock) == nvml_success ? static_cast<int>(clock)
                                                                                             : 0;
}

}  // namespace esc::gpu
