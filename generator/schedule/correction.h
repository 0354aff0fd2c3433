// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "generator/schedule/layer_class.h"
#include "generator/schedule/schedule.h"
#include "generator/support/cholesky.h"

namespace esc {

/// A schedule of a layer, as those of one family are compared: what tells layers and schedules apart, numbers in
/// octaves and a packed tile for a word.
struct SchedulePoint {
  std::vector<double> layer;
  std::vector<double> schedule;
};
std::vector<double> layer_point(const LayerShape& shape);
SchedulePoint schedule_point(const Schedule& schedule, const LayerShape& shape);

/// A time that was measured beside the one that was predicted.
struct MeasuredPoint {
  SchedulePoint point;
  double log_ratio = 0;  ///< natural logarithm of the measured time over the predicted one
};

/// What was measured of the schedules of a family for one product.
struct ProductPoints {
  std::string pattern;  ///< of the layer
  std::vector<MeasuredPoint> points;
};

/// The logarithm to be added to that of a predicted time, and how far it may be off.
struct CorrectionEstimate {
  double log_ratio = 0;
  double deviation = 0;  ///< standard deviation
};

/// The deviation of a prediction of which nothing like it was measured: that of all groups from their means.
constexpr double unmeasured_deviation = 0.3;

/// What the measurements nearest to a layer say of predictions: log(measured / predicted), kriged over them. A schedule
/// that was measured on the very layer gets its own; far from all of them, it is the mean that it was made with.
class LocalCorrection {
 public:
  /// The points outlive it. `deviation` is that of all log ratios from their mean.
  LocalCorrection(std::vector<const MeasuredPoint*> near, double mean, double deviation);

  double log_ratio(const SchedulePoint& point) const;
  /// The same with its deviation, which takes longer.
  CorrectionEstimate estimate(const SchedulePoint& point) const;

 private:
  std::vector<double> correlations(const SchedulePoint& point) const;

  std::vector<const MeasuredPoint*> near_;
  double mean_;
  double deviation_;
  CholeskyFactor covariance_;
  std::vector<double> weights_;
};

/// What measurements say of predictions for one device, element type, layout and family.
class Correction {
 public:
  explicit Correction(std::vector<ProductPoints> measured);

  /// Of all log ratios; 0 without any.
  double mean() const { return mean_; }
  /// By the products nearest to a layer. What was measured of the layer whose pattern is `left_out` is not asked.
  LocalCorrection near(const LayerShape& shape, std::string_view left_out = {}) const;

 private:
  std::vector<ProductPoints> measured_;
  double mean_ = 0;
  double deviation_ = 0;
};

}  // namespace esc
