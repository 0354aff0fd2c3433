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
#include "generator/schedule/measured_products.h"
#include "generator/schedule/target.h"

namespace esc {

/// A schedule by what it is expected to take.
struct ExpectedSchedule {
  Schedule schedule;
  double microseconds = 0;
  double at_most = 0;  ///< microseconds that are hardly exceeded; more where nothing near was measured
};

/// What schedules take: the time that the cost model predicts, corrected by what was measured on one device.
class ScheduleModel {
 public:
  explicit ScheduleModel(DeviceMeasurements measured);

  const DeviceKey& device() const { return device_; }

  /// The schedules of a space that a target can run, what is expected to be the fastest first, where what nothing near
  /// was measured of is after what is as fast by measurements. Those that are predicted to be far slower are left
  /// out, but for so many of each family. What was measured of the layer whose pattern is `left_out` is not asked.
  std::vector<ExpectedSchedule> ranked(const std::vector<Schedule>& space, const LayerShape& shape,
                                       const KernelTarget& target, std::string_view left_out = {},
                                       std::size_t least_of_family = 0) const;

  /// What one schedule is expected to take on a device, in microseconds.
  double expected_microseconds(const Schedule& schedule, const LayerShape& shape, const DeviceKey& device) const;

 private:
  using Kind = std::pair<std::string, std::string>;       ///< element type and layout
  using Corrections = std::map<std::size_t, Correction>;  ///< by family

  Corrections corrections_by(const std::vector<TimedProduct>& products) const;
  /// By what was measured in a type and a layout; null where nothing was.
  const Corrections* corrections_of(const Kind& kind) const;

  /// What was measured of a family in the type and layout that are the most like a layer's; null where nothing was.
  const Correction* correction_for(const LayerShape& shape, std::size_t family) const;

  DeviceKey device_;
  std::map<Kind, std::vector<TimedProduct>> products_;
  mutable std::mutex mutex_;
  mutable std::map<Kind, Corrections> corrections_;  ///< made where they are asked for: most runs have one kind
};

/// The model of the device nearest to this one of which measurements are part of this program.
const ScheduleModel& shipped_model(const DeviceKey& device);

}  // namespace esc
