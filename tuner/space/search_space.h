#pragma once

#include <set>
#include <string>
#include <vector>

#include "generator/schedule/schedule.h"

namespace esc::tuning {

/// "atomic", "panel", "rows".
const std::set<std::string>& all_families();

/// The schedules among which the fastest one for bCol columns of B is looked for: for each family the values of its
/// parameters that measurements found worth a try, as far as the family's own rules allow them for this bCol; without
/// repetitions, in a fixed order, with programmatic dependent launches. Throws UserError for a family that there is not
/// and for bCol < 1.
std::vector<Schedule> search_space(long long bcol, const std::set<std::string>& families);

}  // namespace esc::tuning
