// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "generator/schedule/correction.h"
#include "generator/schedule/measured_products.h"
#include "generator/schedule/target.h"

namespace esc {

/// What schedules take: the time that the cost model predicts, corrected by what was measured on one device.
class ScheduleModel {
 public:
  explicit ScheduleModel(const DeviceMeasurements& measured);

  const DeviceKey& device() const { return device_; }

  /// The schedules of a space that a target can run, what is expected to be the fastest first, where what nothing near
  /// was measured of is after what is as fast by measurements. Those that are predicted to be far slower are left
  /// out. What was measured of the layer whose pattern is `left_out` is not asked.
  std::vector<Schedule> ranked(const std::vector<Schedule>& space, const LayerShape& shape, const KernelTarget& target,
                               std::string_view left_out = {}) const;

  /// What one schedule is expected to take on a device, in microseconds.
  double expected_microseconds(const Schedule& schedule, const LayerShape& shape, const DeviceKey& device) const;

 private:
  using Group = std::tuple<std::string, std::string, std::size_t>;  ///< element type, layout, family

  /// What was measured of a family in the type and layout that are the most like a layer's; null where nothing was.
  const Correction* correction_for(const LayerShape& shape, std::size_t family) const;

  DeviceKey device_;
  std::map<Group, Correction> corrections_;
};

/// The model of the device nearest to this one of which measurements are part of this program.
const ScheduleModel& shipped_model(const DeviceKey& device);

}  // namespace esc
