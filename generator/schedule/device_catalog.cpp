// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/device_catalog.h"

#include <algorithm>
#include <utility>

#include "generator/schedule/target.h"

namespace esc {

DeviceCatalog::DeviceCatalog(KnownDevices devices, std::vector<DeviceMeasurements> own)
    : devices_(std::move(devices)), own_(merged(std::move(own))) {}

const DeviceMeasurements* DeviceCatalog::nearest_own(const DeviceKey& device) const {
  const auto distance = [&](const DeviceMeasurements& one) { return device_distance(one.key, device); };
  const auto nearest = std::ranges::min_element(own_, {}, distance);
  const double of_program = device_distance(nearest_measured_device(device), device);
  return nearest == own_.end() || distance(*nearest) > of_program ? nullptr : &*nearest;
}

const ScheduleModel& DeviceCatalog::model(const DeviceKey& device) const {
  const DeviceMeasurements* const own = nearest_own(device);
  const DeviceKey key = own == nullptr ? nearest_measured_device(device) : own->key;
  const std::scoped_lock lock(mutex_);
  auto model = models_.find(key);
  if (model == models_.end()) {
    const DeviceMeasurements measured = own == nullptr ? DeviceMeasurements{.key = key} : *own;
    model = models_.try_emplace(key, measured, shipped_model(key), devices_).first;
  }
  return model->second;
}

bool DeviceCatalog::has_measurements_of(const DeviceKey& device) const {
  return esc::has_measurements_of(device) || std::ranges::find(own_, device, &DeviceMeasurements::key) != own_.end();
}

const DeviceCatalog& shipped_catalog() {
  static const DeviceCatalog catalog;
  return catalog;
}

}  // namespace esc
