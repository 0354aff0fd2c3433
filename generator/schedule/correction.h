// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "generator/schedule/layer_class.h"
#include "generator/schedule/schedule.h"
#include "generator/support/cholesky.h"

namespace esc {

/// A layer, as layers are compared.
struct LayerPoint {
  std::array<double, 5> sizes = {};  ///< octaves
  std::string layout = {};
  CacheState cache = CacheState::warm;
  bool operator==(const LayerPoint&) const = default;
};

/// A schedule of a layer, as those of one family are compared: what tells layers apart, and what schedules, numbers in
/// octaves and one for a word.
struct SchedulePoint {
  LayerPoint layer;
  std::vector<double> schedule;
};
LayerPoint layer_point(const LayerShape& shape);
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

/// What is taken for true of log ratios before any of them is looked at.
struct CorrectionPrior {
  double mean = 0;
  double deviation = 0;  ///< of all log ratios from their mean, in standard deviations
  /// Of the variance, the share that all schedules of a family have in common over many octaves.
  double offset_share = 0;
  /// Whether a schedule that was measured for the very product takes exactly what it took.
  bool is_exact = false;
};

/// The priors of layers.
class CorrectionPriors {
 public:
  /// Of measurements which are many: their own mean and deviation, for each layout and state of the cache, to which
  /// those of all belong while there are few.
  explicit CorrectionPriors(const std::vector<ProductPoints>& measured);
  /// The same one for all layers.
  explicit CorrectionPriors(const CorrectionPrior& all) : all_(all) {}

  const CorrectionPrior& of(const LayerPoint& layer) const;

 private:
  CorrectionPrior all_;
  std::map<std::pair<std::string, CacheState>, CorrectionPrior> kinds_;
};

/// That of measurements which are few, of what another correction has left over: none until something says otherwise.
/// Its deviation, 1, is a share of the other one's.
inline constexpr CorrectionPrior prior_of_remainder{.mean = 0, .deviation = 1, .offset_share = 0.4, .is_exact = true};

/// What the measurements nearest to a layer say of predictions: log(measured / predicted), kriged over them. A schedule
/// that was measured on the very layer gets its own; far from all of them, it is the mean of the prior.
class LocalCorrection {
 public:
  /// The points outlive it. `own` are those of the very product, which are exact.
  LocalCorrection(std::vector<const MeasuredPoint*> near, std::vector<const MeasuredPoint*> own,
                  const CorrectionPrior& prior);

  double log_ratio(const SchedulePoint& point) const;
  /// The same with its deviation, which takes longer.
  CorrectionEstimate estimate(const SchedulePoint& point) const;
  /// What all schedules of a layer have in common of it.
  double offset(const LayerPoint& layer) const;
  /// Whether anything was measured for the very product, where that is exact; and what of this schedule.
  bool has_exact() const { return !own_.empty(); }
  std::optional<double> exactly(const SchedulePoint& point) const;

 private:
  std::vector<double> correlations(const SchedulePoint& point) const;

  std::vector<const MeasuredPoint*> near_;
  std::vector<const MeasuredPoint*> own_;
  CorrectionPrior prior_;
  CholeskyFactor covariance_;
  std::vector<double> weights_;
};

/// What measurements say of predictions for one device, arithmetic and family.
class Correction {
 public:
  /// With priors of their own, or the same one for all layers.
  explicit Correction(std::vector<ProductPoints> measured);
  Correction(std::vector<ProductPoints> measured, const CorrectionPrior& prior);

  /// What is taken for true of a layer before the measurements near it are looked at.
  const CorrectionPrior& prior(const LayerPoint& layer) const { return priors_.of(layer); }
  /// By the products nearest to a layer. What was measured of the layer whose pattern is `left_out` is not asked.
  LocalCorrection near(const LayerShape& shape, std::string_view left_out = {}) const;

 private:
  std::vector<ProductPoints> measured_;
  CorrectionPriors priors_;
};

}  // namespace esc
