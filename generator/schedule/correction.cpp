// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/correction.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <utility>

namespace esc {
namespace {

/// Octaves in which the correlation of two measurements falls to 1/e, by what tells their layers apart, which two
/// layouts and two states of the cache do as well, and by what tells their schedules apart; the part of a layer's
/// variance that all its schedules share; and that which is each measurement's own. Fitted to the journals.
constexpr double layer_octaves = 8;
constexpr double different_layout = 4;
constexpr double different_cache = 2;
constexpr double schedule_octaves = 4;
constexpr double shared_variance = 0.2;
constexpr double own_variance = 0.03;
/// Octaves in which an offset that all schedules of a family have in common falls to 1/e.
constexpr double offset_octaves = 16;
/// What is farther than so many others says little beside them: half as many lose 2.9 in place of 2.7 % of float32.
constexpr std::size_t most_neighbours = 192;

double octaves(double value) { return std::log2(std::max(1.0, value)); }

void add(std::vector<double>& point, const PanelSchedule& schedule) {
  for (const int value : {schedule.ufi, schedule.columns, schedule.vector, schedule.groups, schedule.warps,
                          schedule.row_tiles, schedule.ufk}) {
    point.push_back(octaves(value));
  }
  point.push_back(schedule.stage ? 1 : 0);
}

void add(std::vector<double>& point, const RowsSchedule& schedule) {
  for (const int value :
       {schedule.columns, schedule.vector, schedule.unroll, schedule.task, schedule.light, schedule.warps}) {
    point.push_back(octaves(value));
  }
}

void add(std::vector<double>& point, const AtomicSchedule& schedule) {
  for (const int value : {schedule.ufi, schedule.ufk, schedule.warptile, schedule.threads}) {
    point.push_back(octaves(value));
  }
  point.push_back(schedule.compaction ? 1 : 0);
}

void add(std::vector<double>& point, const StreamSchedule& schedule) {
  for (const int value : {schedule.columns, schedule.row_tiles, schedule.warps, schedule.stages, schedule.share,
                          schedule.rows, schedule.cluster}) {
    point.push_back(octaves(value));
  }
  point.push_back(schedule.ahead ? 1 : 0);
  // Each kind of copies, and of steps, is as far from the others as these from each other.
  for (const auto copies :
       {StreamSchedule::Copies::cp_async, StreamSchedule::Copies::bulk_a, StreamSchedule::Copies::tma}) {
    point.push_back(schedule.copies == copies ? 0.5 : 0);
  }
  for (const auto dense : {StreamSchedule::Dense::off, StreamSchedule::Dense::on, StreamSchedule::Dense::listed,
                           StreamSchedule::Dense::placed}) {
    point.push_back(schedule.dense == dense ? 0.5 : 0);
  }
}

void add(std::vector<double>& point, const GatherSchedule& schedule) {
  point.push_back(octaves(schedule.sets));
  point.push_back(octaves(schedule.warps));
}

void add(std::vector<double>& point, const BitmapSchedule& schedule) {
  for (const int value : {schedule.columns, schedule.row_tiles, schedule.warps, schedule.stages, schedule.packed_tiles,
                          schedule.step, schedule.cluster}) {
    point.push_back(octaves(value));
  }
  point.push_back(schedule.has_warpgroups() ? 1 : 0);
  point.push_back(schedule.is_sparse24() ? 1 : 0);
}

/// How far two points are from each other, in octaves.
template <typename Numbers>
double between(const Numbers& a, const Numbers& b) {
  double sum = 0;
  for (std::size_t at = 0; at < a.size(); ++at) {
    sum += std::abs(a[at] - b[at]);
  }
  return sum;
}

double between(const LayerPoint& a, const LayerPoint& b) {
  return between(a.sizes, b.sizes) + (a.layout == b.layout ? 0 : different_layout) +
         (a.cache == b.cache ? 0 : different_cache);
}

/// Whether two points are of the same product, whatever the cache held.
bool are_of_one_product(const LayerPoint& a, const LayerPoint& b) { return a.sizes == b.sizes && a.layout == b.layout; }

/// What the layers of two measurements say of each other.
struct LayerCorrelation {
  double own = 0;     ///< of what is the layer's own
  double offset = 0;  ///< of what all layers around have in common
};

LayerCorrelation correlation_of_layers(const LayerPoint& a, const LayerPoint& b) {
  const double octaves = between(a, b);
  return {std::exp(-octaves / layer_octaves), std::exp(-octaves / offset_octaves)};
}

double correlation(const SchedulePoint& a, const SchedulePoint& b, const LayerCorrelation& of_layers,
                   double offset_share) {
  const double of_schedules = std::exp(-between(a.schedule, b.schedule) / schedule_octaves);
  const double own = of_layers.own * (shared_variance + (1 - shared_variance) * of_schedules);
  return offset_share * of_layers.offset + (1 - offset_share) * own;
}

/// Adds the correlations of a point with others. Those of one product are one after the other and have the
/// same layer, of which the correlation is computed once.
template <typename Add>
void correlate(const SchedulePoint& point, std::span<const MeasuredPoint* const> others, double offset_share,
               const Add& add) {
  const SchedulePoint* latest = nullptr;
  LayerCorrelation of_layers;
  for (const MeasuredPoint* const other : others) {
    if (latest == nullptr || latest->layer != other->point.layer) {
      latest = &other->point;
      of_layers = correlation_of_layers(point.layer, latest->layer);
    }
    add(correlation(point, other->point, of_layers, offset_share));
  }
}

SymmetricMatrix covariance(const std::vector<const MeasuredPoint*>& points, double offset_share) {
  SymmetricMatrix matrix(points.size());
  for (std::size_t row = 0; row < points.size(); ++row) {
    std::size_t column = 0;
    correlate(points[row]->point, std::span(points).first(row), offset_share,
              [&](double one) { matrix.at(row, column++) = one; });
    matrix.at(row, row) = 1 + own_variance;
  }
  return matrix;
}

}  // namespace

LayerPoint layer_point(const LayerShape& shape) {
  const double mean_row = static_cast<double>(shape.nonzeros) / static_cast<double>(shape.rows);
  // Schedules depend least on the columns of A.
  return {.sizes = {octaves(static_cast<double>(shape.rows)), octaves(static_cast<double>(shape.columns)) / 2,
                    octaves(mean_row), octaves(std::max(mean_row, static_cast<double>(shape.longest_row))),
                    octaves(static_cast<double>(shape.bcol))},
          .layout = shape.layout,
          .cache = shape.cache};
}

SchedulePoint schedule_point(const Schedule& schedule, const LayerShape& shape) {
  SchedulePoint point{.layer = layer_point(shape), .schedule = {}};
  std::visit([&](const auto& one) { add(point.schedule, one); }, schedule);
  return point;
}

namespace {

/// Log ratios, added up.
struct RatioSums {
  double count = 0;
  double sum = 0;
  double squares = 0;

  void add(double log_ratio) {
    ++count;
    sum += log_ratio;
    squares += log_ratio * log_ratio;
  }

  /// Their mean and deviation. A few times that happen to agree prove neither: so many more are assumed to be as the
  /// given prior has it.
  CorrectionPrior with(const CorrectionPrior& before) const {
    constexpr double assumed = 16;
    const double all = count + assumed;
    const double mean = (sum + assumed * before.mean) / all;
    const double assumed_squares = assumed * (before.deviation * before.deviation + before.mean * before.mean);
    return {.mean = mean, .deviation = std::sqrt(std::max(0.0, (squares + assumed_squares) / all - mean * mean))};
  }
};

}  // namespace

CorrectionPriors::CorrectionPriors(const std::vector<ProductPoints>& measured) {
  RatioSums all;
  std::map<std::pair<std::string, CacheState>, RatioSums> kinds;
  for (const ProductPoints& product : measured) {
    for (const MeasuredPoint& one : product.points) {
      all.add(one.log_ratio);
      kinds[{one.point.layer.layout, one.point.layer.cache}].add(one.log_ratio);
    }
  }
  const double mean = all.count > 0 ? all.sum / all.count : 0;
  all_ = all.with({.mean = mean, .deviation = unmeasured_deviation});
  for (const auto& [kind, sums] : kinds) {
    kinds_[kind] = sums.with(all_);
  }
}

const CorrectionPrior& CorrectionPriors::of(const LayerPoint& layer) const {
  const auto found = kinds_.find({layer.layout, layer.cache});
  return found == kinds_.end() ? all_ : found->second;
}

LocalCorrection::LocalCorrection(std::vector<const MeasuredPoint*> near, std::vector<const MeasuredPoint*> own,
                                 const CorrectionPrior& prior)
    : near_(std::move(near)), own_(std::move(own)), prior_(prior), covariance_(covariance(near_, prior.offset_share)) {
  std::vector<double> residuals;
  for (const MeasuredPoint* const one : near_) {
    residuals.push_back(one->log_ratio - prior_.mean);
  }
  weights_ = covariance_.solve(std::move(residuals));
}

std::vector<double> LocalCorrection::correlations(const SchedulePoint& point) const {
  std::vector<double> correlations;
  correlations.reserve(near_.size());
  correlate(point, near_, prior_.offset_share, [&](double one) { correlations.push_back(one); });
  return correlations;
}

std::optional<double> LocalCorrection::exactly(const SchedulePoint& point) const {
  const auto found =
      std::ranges::find_if(own_, [&](const MeasuredPoint* one) { return one->point.schedule == point.schedule; });
  return found == own_.end() ? std::nullopt : std::optional((*found)->log_ratio);
}

double LocalCorrection::offset(const LayerPoint& layer) const {
  double offset = prior_.mean;
  for (std::size_t at = 0; prior_.offset_share > 0 && at < near_.size(); ++at) {
    offset += prior_.offset_share * correlation_of_layers(layer, near_[at]->point.layer).offset * weights_[at];
  }
  return offset;
}

double LocalCorrection::log_ratio(const SchedulePoint& point) const {
  if (const std::optional<double> exact = exactly(point)) {
    return *exact;
  }
  const std::vector<double> near = correlations(point);
  return std::inner_product(near.begin(), near.end(), weights_.begin(), prior_.mean);
}

CorrectionEstimate LocalCorrection::estimate(const SchedulePoint& point) const {
  if (const std::optional<double> exact = exactly(point)) {
    return {.log_ratio = *exact, .deviation = 0};
  }
  const std::vector<double> near = correlations(point);
  const std::vector<double> half = covariance_.solve_half(near);
  const double known = std::inner_product(half.begin(), half.end(), half.begin(), 0.0);
  return {.log_ratio = std::inner_product(near.begin(), near.end(), weights_.begin(), prior_.mean),
          .deviation = prior_.deviation * std::sqrt(std::max(0.0, 1 + own_variance - known))};
}

Correction::Correction(std::vector<ProductPoints> measured) : measured_(std::move(measured)), priors_(measured_) {}

Correction::Correction(std::vector<ProductPoints> measured, const CorrectionPrior& prior)
    : measured_(std::move(measured)), priors_(prior) {}

LocalCorrection Correction::near(const LayerShape& shape, std::string_view left_out) const {
  const LayerPoint layer = layer_point(shape);
  const CorrectionPrior& prior = priors_.of(layer);
  std::vector<std::pair<double, const ProductPoints*>> products;
  for (const ProductPoints& product : measured_) {
    if (!product.points.empty() && (left_out.empty() || product.pattern != left_out)) {
      products.emplace_back(between(layer, product.points.front().point.layer), &product);
    }
  }
  std::ranges::stable_sort(products, {}, &std::pair<double, const ProductPoints*>::first);
  std::vector<const MeasuredPoint*> points;
  std::vector<const MeasuredPoint*> own;
  for (const auto& [distance, product] : products) {
    const bool is_own = prior.is_exact && product->pattern == shape.pattern &&
                        are_of_one_product(product->points.front().point.layer, layer);
    for (const MeasuredPoint& one : product->points) {
      if (points.size() < most_neighbours) {
        points.push_back(&one);
      }
      if (is_own) {
        own.push_back(&one);
      }
    }
  }
  return {std::move(points), std::move(own), prior};
}

}  // namespace esc
