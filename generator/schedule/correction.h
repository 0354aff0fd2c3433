// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

#include "generator/schedule/layer_class.h"
#include "generator/schedule/schedule.h"

namespace esc {

/// A schedule of a layer, as those of one family are compared: what tells layers and schedules apart, numbers in
/// octaves and a unit for a word.
struct SchedulePoint {
  std::vector<double> layer;
  std::vector<double> schedule;
};
SchedulePoint schedule_point(const Schedule& schedule, const LayerShape& shape);

/// A time that was measured beside the one that was predicted.
struct MeasuredPoint {
  SchedulePoint point;
  double log_ratio = 0;   ///< natural logarithm of the measured time over the predicted one
  std::size_t layer = 0;  ///< those of one layer have the same number
};

/// What measurements say of predictions for one device, element type, layout and family: log(measured / predicted),
/// kriged over the nearest of them. Where nothing is near, it is the mean of all; a schedule that was measured on the
/// very layer gets its own.
class Correction {
 public:
  static constexpr std::size_t no_layer = std::numeric_limits<std::size_t>::max();

  explicit Correction(std::vector<MeasuredPoint> measured);

  /// The logarithm to be added to that of a predicted time. What was measured of the layer `left_out` is not asked.
  double at(const SchedulePoint& point, std::size_t left_out = no_layer) const;

 private:
  std::vector<MeasuredPoint> measured_;
  double mean_ = 0;
};

}  // namespace esc
