// SPDX-License-Identifier: Apache-2.0
#include "tuner/space/near_winners.h"

#include <algorithm>

#include "generator/schedule/class_interpolation.h"
#include "generator/schedule/fitted_schedule.h"
#include "generator/schedule/settings.h"

namespace esc::tuning {

std::vector<Schedule> near_winners(const ScheduleDatabase& database, const WorkItem& item,
                                   const std::set<std::string>& families, std::size_t count) {
  std::vector<Schedule> winners;
  const auto classes = interpolate_classes(database, shape_of(item));
  for (const RankedCandidate& ranked : classes ? classes->ranking : std::vector<RankedCandidate>()) {
    const Schedule schedule = fitted(ranked.candidate->schedule, item.product());
    if (winners.size() < count && families.contains(family(schedule)) &&
        is_accepted([&] { check_legal(schedule, item.product()); }) &&
        std::ranges::find(winners, schedule) == winners.end()) {
      winners.push_back(schedule);
    }
  }
  return winners;
}

}  // namespace esc::tuning
