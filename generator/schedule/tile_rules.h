#pragma once

#include <string>

namespace esc {

// Rules that schedules share whose blocks compute `columns` columns of C, `vector` consecutive ones of them in a lane.
// Both throw ScheduleError (place `schedule`).

/// Unless the columns are whole vectors, at most one for each lane of a warp.
void check_group(const std::string& schedule, int columns, int vector);

/// Unless bCol has use for the columns and is a multiple of the vector.
void check_tile(const std::string& schedule, int columns, int vector, long long bcol);

}  // namespace esc
