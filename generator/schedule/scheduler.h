#pragma once

#include <string>
#include <vector>

#include "generator/schedule/schedule.h"
#include "generator/schedule/schedule_database.h"

namespace esc {

/// A schedule with where it came from, for the manifest and the user.
struct ScheduleChoice {
  Schedule schedule;
  std::string source;                   ///< "user", or "database: ...", "published: ...", "default: ..." with the evidence
  std::vector<std::string> notes = {};  ///< what the user should know: that a library is faster, for example
};

/// A class that is farther from a layer than this many octaves says nothing of it: regions of family panel, sized for
/// the longest row, would be far too long for most rows of a power law that resembles no layer that was measured.
constexpr double farthest_class = 4;

/// The schedule that `--schedule auto` stands for by this database: that of the very layer; else the one that loses
/// least by interpolation between the classes of the nearest bCol, if one of them is no farther away than
/// `farthest_class`; else the database's single schedule for this bCol where its family suits the rows; else the
/// family's default for such rows; brought to this bCol. Legal for every bCol >= 1; whether it is for the matrix too
/// shows when that is packed.
ScheduleChoice choose_schedule(const LayerShape& shape, const ScheduleDatabase& database = shipped_database());

/// What auto falls back to where the matrix does not allow the schedule above, because its rows are too uneven: a
/// schedule of family rows that was among the fastest for power laws of row lengths.
ScheduleChoice uneven_rows_schedule(long long bcol);

/// The schedule that `--schedule published` stands for: the paper's best single one on an A100 for the nearest published
/// bCol that is not above this one (32, 64, 128; below 32 the one for 32).
ScheduleChoice published_schedule(long long bcol);

/// The schedule nearest to this one that is legal for bCol: narrower tiles and vectors, and what follows of groups,
/// panels and threads.
Schedule fitted(const Schedule& schedule, long long bcol);

}  // namespace esc
