// SPDX-License-Identifier: Apache-2.0
#include "tuner/regret/device_measurements.h"

#include <map>
#include <utility>

namespace esc::tuning {

std::vector<DeviceMeasurements> device_measurements(const std::vector<MeasuredItem>& items) {
  std::map<DeviceKey, DeviceMeasurements> devices;
  for (const MeasuredItem& item : items) {
    TimedProduct product{item.shape, {}};
    for (const MeasuredSchedule& one : item.schedules) {
      product.schedules.push_back({one.schedule, one.microseconds});
    }
    DeviceMeasurements& device = devices[item.work.device];
    device.key = item.work.device;
    device.products.push_back(thinned(std::move(product)));
  }
  std::vector<DeviceMeasurements> measured;
  for (auto& [key, device] : devices) {
    measured.push_back(std::move(device));
  }
  return measured;
}

}  // namespace esc::tuning
