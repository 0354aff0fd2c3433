#pragma once

#include <string>

#include "generator/schedule/schedule.h"
#include "generator/schedule/schedule_database.h"

namespace esc {

/// A schedule with where it came from, for the manifest and the user.
struct ScheduleChoice {
  Schedule schedule;
  std::string source;  ///< "user", or "database: ...", "default: ..." with the evidence
};

/// The schedule that `--schedule auto` stands for: of the shipped database's nearest class, brought to this bCol. Legal for
/// every bCol >= 1; whether it is for the matrix too shows when that is packed.
ScheduleChoice choose_schedule(const LayerShape& shape);

/// What auto falls back to where the matrix does not allow the schedule above, because its rows are too uneven: a schedule of
/// family rows that was among the fastest for power laws of row lengths.
ScheduleChoice uneven_rows_schedule(long long bcol);

/// The paper's best single schedule on an A100 for the nearest published bCol that is not above this one (32, 64, 128; below 32
/// the one for 32).
ScheduleChoice published_schedule(long long bcol);

/// The schedule nearest to this one that is legal for bCol: narrower tiles and vectors, and the groups and panels that follow.
PanelSchedule fitted(PanelSchedule schedule, long long bcol);

}  // namespace esc
