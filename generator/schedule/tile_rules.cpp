#include "generator/schedule/tile_rules.h"

#include <fmt/format.h>

#include "generator/schedule/directive.h"
#include "generator/schedule/panel_schedule.h"

namespace esc {

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

void check_tile(const std::string& schedule, int columns, int vector, long long bcol) {
  if (columns > widest_tile(bcol)) {
    throw ScheduleError(schedule, fmt::format("columns={} is more than bCol={} asks for", columns, bcol),
                        fmt::format("the nearest legal value is columns={}", widest_tile(bcol)));
  }
  if (vector > widest_vector(bcol)) {
    throw ScheduleError(schedule, fmt::format("vector={} does not divide bCol={}", vector, bcol),
                        fmt::format("the nearest legal value is vector={}", widest_vector(bcol)));
  }
}

}  // namespace esc
