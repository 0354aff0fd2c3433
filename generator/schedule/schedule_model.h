// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "generator/schedule/correction.h"
#include "generator/schedule/known_devices.h"
#include "generator/schedule/measured_products.h"
#include "generator/schedule/target.h"

namespace esc {

/// A schedule by what it is expected to take.
struct ExpectedSchedule {
  Schedule schedule;
  double microseconds = 0;
  double at_most = 0;  ///< microseconds that are hardly exceeded; more where nothing near was measured
};

/// What schedules take, in levels: the time that the cost model predicts, corrected by what was measured on one device;
/// and that in turn by what a user has measured on the same device or on another one.
class ScheduleModel {
 public:
  /// The level on the cost model.
  explicit ScheduleModel(DeviceMeasurements measured);
  /// A level on another model, which outlives it: what a user has measured, of which there may be nothing, and the
  /// devices whose figures are known. A schedule that was measured for the very product takes what it took there; what
  /// is far from all measurements is what the level below expects.
  ScheduleModel(DeviceMeasurements measured, const ScheduleModel& below, KnownDevices devices);

  const DeviceKey& device() const { return device_; }

  /// The schedules of a space that a target can run, what is expected to be the fastest first, where what nothing near
  /// was measured of is after what is as fast by measurements. Those that are predicted to be far slower are left
  /// out, but for so many of each family. What was measured of the layer whose pattern is `left_out` is not asked.
  std::vector<ExpectedSchedule> ranked(const std::vector<Schedule>& space, const LayerShape& shape,
                                       const KernelTarget& target, std::string_view left_out = {},
                                       std::size_t least_of_family = 0) const;

  /// What one schedule is expected to take on a device, in microseconds.
  double expected_microseconds(const Schedule& schedule, const LayerShape& shape, const DeviceKey& device) const;

  /// The same of several schedules of one product, faster.
  std::vector<double> expected_microseconds(const std::vector<Schedule>& schedules, const LayerShape& shape,
                                            const DeviceKey& device) const;

 private:
  class LayerCorrections;
  using Corrections = std::map<std::size_t, Correction>;  ///< by family

  Corrections corrections_by(const std::vector<TimedProduct>& products) const;
  /// By what was measured in an arithmetic; null where nothing was.
  const Corrections* corrections_of(const std::string& arithmetic) const;

  /// What was measured of a family in the arithmetic that is the most like a layer's; null where nothing was.
  const Correction* correction_for(const LayerShape& shape, std::size_t family) const;

  DeviceKey device_;
  const ScheduleModel* below_ = nullptr;  ///< null: the cost model
  KnownDevices devices_;
  std::map<std::string, std::vector<TimedProduct>> products_;  ///< by arithmetic_of their types
  mutable std::mutex mutex_;
  mutable std::map<std::string, Corrections> corrections_;  ///< made where they are asked for: most runs have one kind
};

/// The model of the device nearest to this one of which measurements are part of this program.
const ScheduleModel& shipped_model(const DeviceKey& device);

}  // namespace esc
