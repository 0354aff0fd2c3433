// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "generator/schedule/product_columns.h"
#include "generator/schedule/settings.h"

namespace esc {

/// What a block and a lane of it compute.
struct LaneTile {
  long long block_rows = 1;
  int rows = 1;     ///< of a lane
  int columns = 1;  ///< of a block
  int vector = 1;   ///< columns of a lane

  /// "tile=8x32" with other columns, and "thread=2x4" with others.
  std::string tile_with(long long other_columns) const;
  std::string thread_with(long long other_columns) const;
};

// Rules that schedules share whose blocks compute `columns` columns of C, `vector` consecutive ones of them in a lane.
// All throw ScheduleError (place `schedule`).

/// Unless a lane may hold so many columns: 1, 2 or 4 that are moved at once, and where they are not one after the
/// other 8 or 16 too.
void check_vector(const ScheduleText& schedule, LaneTile tile, bool contiguous);

/// Unless the columns are whole vectors, at most one for each lane of a warp.
void check_group(const ScheduleText& schedule, LaneTile tile);

/// Unless there is use for the columns and, where they are one after the other, a multiple of the vector of them.
void check_tile(const ScheduleText& schedule, LaneTile tile, const ProductColumns& product);

}  // namespace esc
