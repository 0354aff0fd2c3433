// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/correction.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "generator/support/cholesky.h"

namespace esc {
namespace {

/// Octaves in which the correlation of two measurements falls to 1/e, by what tells their layers apart and by what
/// tells their schedules apart; the part of a layer's variance that all its schedules share; and that which is each
/// measurement's own. Fitted to the journals: of layers that are left out 3.7 % is lost, with 3 octaves in place of 8
/// and of 4, and nothing shared, 4.1 %.
constexpr double layer_octaves = 8;
constexpr double schedule_octaves = 4;
constexpr double shared_variance = 0.2;
constexpr double own_variance = 0.03;
/// What is farther than so many others says little beside them.
constexpr std::size_t most_neighbours = 64;

double octaves(double value) { return std::log2(std::max(1.0, value)); }

void add(std::vector<double>& point, const PanelSchedule& schedule) {
  for (const int value : {schedule.ufi, schedule.columns, schedule.vector, schedule.groups, schedule.warps,
                          schedule.panels, schedule.ufk}) {
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
  for (const int value : {schedule.columns, schedule.panels, schedule.warps, schedule.stages, schedule.share,
                          schedule.rows, schedule.cluster}) {
    point.push_back(octaves(value));
  }
  point.push_back(schedule.ahead ? 1 : 0);
  point.push_back(schedule.quarters ? 1 : 0);
  // Each kind of copies, and of steps, is as far from the others as these from each other.
  for (const auto copies :
       {StreamSchedule::Copies::lanes, StreamSchedule::Copies::units, StreamSchedule::Copies::bulk}) {
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
  for (const int value :
       {schedule.columns, schedule.panels, schedule.warps, schedule.stages, schedule.units, schedule.cluster}) {
    point.push_back(octaves(value));
  }
  point.push_back(schedule.has_warpgroups() ? 1 : 0);
}

/// How far two points are from each other, in lengths in which a correlation falls to 1/e.
struct Distance {
  double layers = 0;
  double schedules = 0;

  double all() const { return layers + schedules; }
  double correlation() const { return shared_variance * std::exp(-layers) + (1 - shared_variance) * std::exp(-all()); }
};

double between(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t at = 0; at < a.size(); ++at) {
    sum += std::abs(a[at] - b[at]);
  }
  return sum;
}

Distance between(const SchedulePoint& a, const SchedulePoint& b) {
  return {between(a.layer, b.layer) / layer_octaves, between(a.schedule, b.schedule) / schedule_octaves};
}

}  // namespace

SchedulePoint schedule_point(const Schedule& schedule, const LayerShape& shape) {
  const double mean_row = static_cast<double>(shape.nonzeros) / static_cast<double>(shape.rows);
  // Schedules depend least on the columns of A.
  SchedulePoint point{
      .layer = {octaves(static_cast<double>(shape.rows)), octaves(static_cast<double>(shape.columns)) / 2,
                octaves(mean_row), octaves(std::max(mean_row, static_cast<double>(shape.longest_row))),
                octaves(static_cast<double>(shape.bcol))},
      .schedule = {}};
  std::visit([&](const auto& one) { add(point.schedule, one); }, schedule);
  return point;
}

Correction::Correction(std::vector<MeasuredPoint> measured) : measured_(std::move(measured)) {
  for (const MeasuredPoint& one : measured_) {
    mean_ += one.log_ratio / static_cast<double>(measured_.size());
  }
}

double Correction::at(const SchedulePoint& point, std::size_t left_out) const {
  struct Neighbour {
    Distance distance;
    const MeasuredPoint* measured;
  };
  std::vector<Neighbour> nearest;
  for (const MeasuredPoint& one : measured_) {
    if (one.layer != left_out || left_out == no_layer) {
      nearest.push_back({between(point, one.point), &one});
    }
  }
  const std::size_t count = std::min(nearest.size(), most_neighbours);
  std::ranges::partial_sort(nearest, nearest.begin() + static_cast<std::ptrdiff_t>(count), {},
                            [](const Neighbour& one) { return one.distance.all(); });
  SymmetricMatrix covariance(count);
  std::vector<double> residuals(count);
  for (std::size_t row = 0; row < count; ++row) {
    residuals[row] = nearest[row].measured->log_ratio - mean_;
    for (std::size_t column = 0; column < row; ++column) {
      covariance.at(row, column) = between(nearest[row].measured->point, nearest[column].measured->point).correlation();
    }
    covariance.at(row, row) = 1 + own_variance;
  }
  const std::vector<double> weights = solve(std::move(covariance), std::move(residuals));
  double correction = mean_;
  for (std::size_t row = 0; row < count; ++row) {
    correction += nearest[row].distance.correlation() * weights[row];
  }
  return correction;
}

}  // namespace esc
