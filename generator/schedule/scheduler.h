#pragma once

#include <string>

#include "generator/schedule/schedule.h"

namespace esc {

/// A schedule with where it came from, for the manifest and the user.
struct ScheduleChoice {
  Schedule schedule;
  std::string source;  ///< "user", or "default: ..." with the evidence
};

/// The schedule that `--schedule auto` stands for: the paper's best single schedule for the nearest published bCol that is
/// not above this one (32, 64, 128; below 32 the one for 32). Legal for every bCol >= 1.
ScheduleChoice choose_schedule(long long bcol);

}  // namespace esc
