// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/database_advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "generator/schedule/fitted_schedule.h"

namespace esc {
namespace {

/// The choice with ratios that were measured of a schedule on layers of this kind, with so many columns of B.
ScheduleChoice with_ratios(ScheduleChoice choice, const MeasuredCase& measured, MeasuredRatios ratios) {
  ratios.device = measured.device.name;
  choice.evidence = Measurement(measured, std::move(ratios));
  return choice;
}

/// The time of the faster library on the nearest layers of as many columns of B of which it is known, where they are
/// close.
std::optional<double> library_microseconds(const ScheduleDatabase& database, const LayerShape& shape) {
  double least = close_class;
  std::optional<double> microseconds;
  for (const ClassEntry& entry : database.classes_of(shape.bcol)) {
    const double distance = class_distance(shape, entry.layers);
    if (entry.exact_microseconds && distance <= least) {
      least = distance;
      microseconds = entry.exact_microseconds;
    }
  }
  return microseconds;
}

/// What a database says of a schedule, which was measured on layers of this kind.
MeasuredCase measured_case(const Schedule& schedule, const ScheduleDatabase& database, long long bcol, bool scattered) {
  const DatabaseHead& head = database.head();
  return {.schedule = schedule,
          .scattered = scattered,
          .dtype = head.dtype,
          .layout = head.layout,
          .bcol = bcol,
          .device = {head.device, head.key}};
}

/// How far a class is from a layer, in octaves, the distance to the class's bCol included.
double distance_with_bcol(const LayerShape& shape, const LayerClass& layers) {
  return class_distance(shape, layers) +
         std::abs(std::log2(static_cast<double>(layers.bcol) / static_cast<double>(shape.bcol)));
}

/// A library's time over that of a schedule which takes this many times as long as the best one.
std::optional<double> over_slower(std::optional<double> over_best, double times) {
  return over_best ? std::optional(*over_best / times) : std::nullopt;
}

}  // namespace

ScheduleChoice choice_of(const LayerEntry& entry, const LayerShape& shape, const ScheduleDatabase& database) {
  ScheduleChoice choice{fitted(entry.schedule, shape.product()),
                        fmt::format("database: {}, this very layer", database.describe()),
                        {},
                        database.head()};
  choice.is_own = !database.is_shipped();
  return with_ratios(choice, measured_case(entry.schedule, database, entry.bcol, shape.scattered),
                     {.over_exact = entry.over_exact,
                      .over_tf32 = entry.over_tf32,
                      .exact_microseconds = library_microseconds(database, shape),
                      .where = fmt::format("this very layer on {}", database.describe())});
}

ClassAdvice::ClassAdvice(const LayerShape& shape, const ScheduleDatabase& database)
    : shape_(&shape), database_(&database), library_microseconds_(library_microseconds(database, shape)) {
  if (const ClassEntry* const nearest = nearest_class(database, shape);
      nearest != nullptr && distance_with_bcol(shape, nearest->layers) <= close_class) {
    classes_ = interpolate_classes(database, shape);
  }
}

std::vector<ScheduleChoice> ClassAdvice::choices() const {
  std::vector<ScheduleChoice> choices;
  if (classes_) {
    for (const RankedCandidate& one : classes_->ranking) {
      choices.push_back(choice_of(*one.candidate));
    }
  }
  return choices;
}

ScheduleChoice ClassAdvice::choice_of(const CandidateEntry& candidate) const {
  const ClassEntry& nearest = *classes_->nearest;
  const std::string whose =
      fmt::format("{} of {}", classes_->own_class ? "the class" : "the nearest class", describe(nearest.layers));
  std::string source = fmt::format("database: {}, {}", database_->describe(), whose);
  if (classes_->classes > 1) {
    source += fmt::format(", interpolated between {} classes", classes_->classes);
  }
  const ScheduleChoice choice{fitted(candidate.schedule, shape_->product()), source, {}, database_->head()};
  const double times = 1 + nearest.losses[static_cast<std::size_t>(candidate.number)].percent / 100;
  return with_ratios(choice, measured_case(candidate.schedule, *database_, nearest.layers.bcol, true),
                     {.over_exact = over_slower(nearest.over_exact, times),
                      .over_tf32 = over_slower(nearest.over_tf32, times),
                      .exact_microseconds = library_microseconds_,
                      .where = fmt::format("{} on {}", whose, database_->describe())});
}

}  // namespace esc
