// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace esc::gpu {

/// Reads the clock of the multiprocessors through NVML, which comes with the driver. Without it the clock is not known.
class SmClock {
 public:
  /// `bus_id` as cudaDeviceGetPCIBusId says it.
  explicit SmClock(const std::string& bus_id);
  SmClock(const SmClock&) = delete;
  SmClock& operator=(const SmClock&) = delete;
  ~SmClock();

  /// The clock now; 0 where it is not known.
  int megahertz() const;

 private:
  void* library_ = nullptr;
  void* device_ = nullptr;
  int (*get_clock_)(void* device, unsigned int kind, unsigned int* megahertz) = nullptr;
};

}  // namespace esc::gpu
