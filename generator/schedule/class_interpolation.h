// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "generator/schedule/schedule_database.h"

namespace esc {

/// A candidate of a database with what it is expected to lose on a layer: the natural logarithm of its time over that
/// of the layer's best schedule.
struct RankedCandidate {
  const CandidateEntry* candidate = nullptr;
  double loss = 0;
};

/// What the classes of a database say of a layer.
struct Interpolation {
  std::vector<RankedCandidate> ranking;  ///< all candidates, the least loss first; of equals the lower number
  const ClassEntry* nearest = nullptr;   ///< the layer's own class where it has an entry, else the nearest one
  bool own_class = false;
  int classes = 0;  ///< that were interpolated between
};

/// The layer's own class where it has an entry, else the nearest one of the nearest bCol; null for a database without
/// classes.
const ClassEntry* nearest_class(const ScheduleDatabase& database, const LayerShape& shape);

/// What each candidate of the nearest bCol is expected to lose on a layer, by all classes of that bCol. The logarithms
/// of the losses are interpolated as kriging does it: two places at the distance d have the correlation exp(-d / 3),
/// the mean over all layers is what holds far from all of them, and one layer's measurements have a tenth of the
/// variance between layers, that of a class's mean as much less as the class has layers. So a class of one lucky layer
/// says less than its neighbours together. Absent for a database without classes. What it points to lives in the
/// database.
std::optional<Interpolation> interpolate_classes(const ScheduleDatabase& database, const LayerShape& shape);
std::optional<Interpolation> interpolate_classes(const ScheduleDatabase&& database, const LayerShape& shape) = delete;

}  // namespace esc
