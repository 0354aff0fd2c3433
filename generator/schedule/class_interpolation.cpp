// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/class_interpolation.h"

#include <algorithm>
#include <cmath>

#include "generator/support/cholesky.h"

namespace esc {
namespace {

// On leave-one-out over DLMC, 2 to 6 octaves and 0.05 to 0.2 are all within 0.2 % of these.
constexpr double correlation_octaves = 3;
constexpr double noise_of_one_layer = 0.1;

double correlation(double distance) { return std::exp(-distance / correlation_octaves); }

/// How much the measurements of the classes have to do with each other, their noise included.
SymmetricMatrix covariance(std::span<const ClassEntry> classes) {
  SymmetricMatrix matrix(classes.size());
  for (std::size_t i = 0; i < classes.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      matrix.at(i, j) = correlation(class_distance(classes[i].layers, classes[j].layers));
    }
    matrix.at(i, i) = 1 + noise_of_one_layer / classes[i].matrices;
  }
  return matrix;
}

/// How much each class's distance from the mean of all counts for the layer.
std::vector<double> weights(std::span<const ClassEntry> classes, const LayerShape& shape) {
  std::vector<double> to_layer;
  for (const ClassEntry& entry : classes) {
    to_layer.push_back(correlation(class_distance(shape, entry.layers)));
  }
  return solve(covariance(classes), to_layer);
}

double logarithm(const CandidateLoss& loss) { return std::log1p(loss.percent / 100); }

/// The mean of a candidate's losses over all layers.
double mean_loss(std::span<const ClassEntry> classes, std::size_t candidate) {
  double sum = 0;
  double layers = 0;
  for (const ClassEntry& entry : classes) {
    sum += entry.matrices * logarithm(entry.losses[candidate]);
    layers += entry.matrices;
  }
  return sum / layers;
}

double expected_loss(std::span<const ClassEntry> classes, const std::vector<double>& weights, std::size_t candidate) {
  const double mean = mean_loss(classes, candidate);
  double loss = mean;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    loss += weights[i] * (logarithm(classes[i].losses[candidate]) - mean);
  }
  return loss;
}

}  // namespace

const ClassEntry* nearest_class(const ScheduleDatabase& database, const LayerShape& shape) {
  if (const ClassEntry* const own = database.own_class(shape)) {
    return own;
  }
  const std::optional<long long> bcol = database.nearest_bcol(shape.bcol);
  return bcol ? &*std::ranges::min_element(database.classes_of(*bcol), {},
                                           [&](const ClassEntry& entry) { return class_distance(shape, entry.layers); })
              : nullptr;
}

std::optional<Interpolation> interpolate_classes(const ScheduleDatabase& database, const LayerShape& shape) {
  const std::optional<long long> bcol = database.nearest_bcol(shape.bcol);
  if (!bcol) {
    return std::nullopt;
  }
  const std::span<const ClassEntry> classes = database.classes_of(*bcol);
  const std::vector<double> by_class = weights(classes, shape);
  Interpolation result{.ranking = {},
                       .nearest = nearest_class(database, shape),
                       .own_class = database.own_class(shape) != nullptr,
                       .classes = static_cast<int>(classes.size())};
  for (const CandidateEntry& candidate : database.candidates_of(*bcol)) {
    const auto number = static_cast<std::size_t>(candidate.number);
    result.ranking.push_back({&candidate, expected_loss(classes, by_class, number)});
  }
  std::ranges::stable_sort(result.ranking, {}, &RankedCandidate::loss);
  return result;
}

}  // namespace esc
