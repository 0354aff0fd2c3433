// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/tile_rules.h"

#include <fmt/format.h>

#include <bit>

#include "generator/schedule/directive.h"
#include "generator/schedule/panel_schedule.h"
#include "generator/schedule/settings.h"

namespace esc {

void check_vector(const std::string& schedule, int vector, bool contiguous) {
  const bool is_wide =
      vector > 0 && vector <= PanelSchedule::max_spread_vector && std::has_single_bit(static_cast<unsigned>(vector));
  if (contiguous || !is_wide) {
    check_power_of_two(schedule, "vector", vector, 1, PanelSchedule::max_vector);
  }
}

void check_group(const std::string& schedule, int columns, int vector) {
  if (vector > columns) {
    throw ScheduleError(schedule, fmt::format("vector={} is more than columns={}", vector, columns),
                        fmt::format("the nearest legal value is vector={}", columns));
  }
  if (columns / vector > 32) {
    throw ScheduleError(schedule,
                        fmt::format("columns / vector = {} lanes are more than a warp's 32", columns / vector),
                        fmt::format("the nearest legal value is columns={}", 32 * vector));
  }
}

void check_tile(const std::string& schedule, int columns, int vector, const ProductColumns& product) {
  if (columns > widest_tile(product)) {
    throw ScheduleError(schedule, fmt::format("columns={} is more than bCol={} asks for", columns, product.count),
                        fmt::format("the nearest legal value is columns={}", widest_tile(product)));
  }
  if (vector > widest_vector(product)) {
    throw ScheduleError(schedule, fmt::format("vector={} does not divide bCol={}", vector, product.count),
                        fmt::format("the nearest legal value is vector={}", widest_vector(product)));
  }
}

}  // namespace esc
