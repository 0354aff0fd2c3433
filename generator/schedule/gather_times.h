// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "generator/schedule/gather_schedule.h"

namespace esc::gather_times {

// What 572 kernels of family gather took on one H100, as far as a rule and the tuner both go by it.

/// Entries of a row and K tile that are filled up.
inline constexpr double filled_up = 1.64;

/// How many times as long it takes where a block has few warps, which wait longer.
inline double slowed_by_few_warps(const GatherSchedule& schedule) {
  constexpr int enough_warps = 12;
  constexpr double of_each_that_lacks = 0.018;
  return 1 + of_each_that_lacks * std::max(0, enough_warps - schedule.warps);
}

}  // namespace esc::gather_times
