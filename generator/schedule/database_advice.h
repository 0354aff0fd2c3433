// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "generator/schedule/class_interpolation.h"
#include "generator/schedule/schedule_choice.h"
#include "generator/schedule/schedule_database.h"

namespace esc {

/// A class within so many octaves of a layer is about such layers: what it says counts before what another database has
/// for the layer. Between classes of the shipped database that are an octave apart, "TF32 is faster" in one holds for
/// the other in 85 % of the cases, and the speed-ups differ by 12 %; at two octaves in 50 %, and by 26 %.
inline constexpr double close_class = 1;

/// What a database has of this very layer, with the evidence that was measured; fitted to the layer's columns.
ScheduleChoice choice_of(const LayerEntry& entry, const LayerShape& shape, const ScheduleDatabase& database);

/// What the classes of one database say of a layer that one of them is close to. Both must outlive it.
class ClassAdvice {
 public:
  ClassAdvice(const LayerShape& shape, const ScheduleDatabase& database);

  const ScheduleDatabase& database() const { return *database_; }

  /// All candidates, the least loss first; none where no class is close.
  std::vector<ScheduleChoice> choices() const;

 private:
  ScheduleChoice choice_of(const CandidateEntry& candidate) const;

  const LayerShape* shape_;
  const ScheduleDatabase* database_;
  std::optional<Interpolation> classes_;  ///< absent where no class is close
  std::optional<double> library_microseconds_;
};

}  // namespace esc
