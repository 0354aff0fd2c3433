// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "generator/schedule/product_columns.h"

namespace esc {

// Rules that schedules share whose blocks compute `columns` columns of C, `vector` consecutive ones of them in a lane.
// All throw ScheduleError (place `schedule`).

/// Unless a lane may hold so many columns: 1, 2 or 4 that are moved at once, and where they do not stand one behind the
/// other 8 or 16 too.
void check_vector(const std::string& schedule, int vector, bool contiguous);

/// Unless the columns are whole vectors, at most one for each lane of a warp.
void check_group(const std::string& schedule, int columns, int vector);

/// Unless there is use for the columns and, where they stand one behind the other, a multiple of the vector of them.
void check_tile(const std::string& schedule, int columns, int vector, const ProductColumns& product);

}  // namespace esc
