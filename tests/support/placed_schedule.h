// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/schedule/stream_schedule.h"

namespace esc::tests {

/// Twice as many numbers as there are blocks that values are placed for: with one consumer group, and with two.
inline constexpr int placed_schedules = 22;

/// The schedule with values that are placed in one of these blocks, and with one of those with 64 columns where it must
/// have no more.
StreamSchedule with_placed_values(StreamSchedule schedule, int number, bool is_wide);

}  // namespace esc::tests
