// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <mutex>
#include <vector>

#include "generator/schedule/known_devices.h"
#include "generator/schedule/measured_products.h"
#include "generator/schedule/schedule_model.h"

namespace esc {

/// What is known of GPUs, their figures and what schedules take on them: by this program and, laid over that, by a
/// user. It never changes; several threads may ask it.
class DeviceCatalog {
 public:
  /// Devices as `KnownDevices` has them, and what a user has measured.
  explicit DeviceCatalog(KnownDevices devices = shipped_devices(), std::vector<DeviceMeasurements> own = {});

  const KnownDevices& devices() const { return devices_; }
  /// What the user has measured, by device.
  const std::vector<DeviceMeasurements>& own() const { return own_; }

  /// The model of the measured device that is the nearest to this one, a user's where it is no farther than one of this
  /// program, on the program's model of the device that is the nearest to it.
  const ScheduleModel& model(const DeviceKey& device) const;

  /// Whether predicted times are corrected by kernels of just this device.
  bool has_measurements_of(const DeviceKey& device) const;

 private:
  const DeviceMeasurements* nearest_own(const DeviceKey& device) const;

  KnownDevices devices_;
  std::vector<DeviceMeasurements> own_;
  mutable std::mutex mutex_;
  mutable std::map<DeviceKey, ScheduleModel> models_;  ///< by measured device, made where they are asked for
};

/// What this program knows by itself.
const DeviceCatalog& shipped_catalog();

}  // namespace esc
