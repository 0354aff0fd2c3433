// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/tile_rules.h"

#include <fmt/format.h>

#include <bit>

#include "generator/schedule/directive.h"
#include "generator/schedule/panel_schedule.h"
#include "generator/schedule/settings.h"

namespace esc {

std::string LaneTile::tile_with(long long other_columns) const {
  return fmt::format("tile={}x{}", block_rows, other_columns);
}

std::string LaneTile::thread_with(long long other_columns) const {
  return fmt::format("thread={}x{}", rows, other_columns);
}

void check_vector(const ScheduleText& schedule, LaneTile tile, bool contiguous) {
  const bool is_wide = tile.vector > 0 && tile.vector <= PanelSchedule::max_spread_vector &&
                       std::has_single_bit(static_cast<unsigned>(tile.vector));
  if (contiguous || !is_wide) {
    check_power_of_two(schedule, "thread N", tile.vector, 1, PanelSchedule::max_vector,
                       [&](long long columns) { return tile.thread_with(columns); });
  }
}

void check_group(const ScheduleText& schedule, LaneTile tile) {
  if (tile.vector > tile.columns) {
    throw ScheduleError(schedule.str(), fmt::format("thread N={} is more than tile N={}", tile.vector, tile.columns),
                        "the nearest legal value is " + tile.thread_with(tile.columns));
  }
  if (tile.columns / tile.vector > 32) {
    throw ScheduleError(
        schedule.str(),
        fmt::format("tile N / thread N = {} lanes are more than a warp's 32", tile.columns / tile.vector),
        "the nearest legal value is " + tile.tile_with(32LL * tile.vector));
  }
}

void check_tile(const ScheduleText& schedule, LaneTile tile, const ProductColumns& product) {
  if (tile.columns > widest_tile(product)) {
    throw ScheduleError(schedule.str(),
                        fmt::format("tile N={} is more than N={} asks for", tile.columns, product.count),
                        "the nearest legal value is " + tile.tile_with(widest_tile(product)));
  }
  if (tile.vector > widest_vector(product)) {
    throw ScheduleError(schedule.str(), fmt::format("thread N={} does not divide N={}", tile.vector, product.count),
                        "the nearest legal value is " + tile.thread_with(widest_vector(product)));
  }
}

}  // namespace esc
