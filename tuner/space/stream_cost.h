// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/schedule/stream_schedule.h"
#include "tuner/records/record.h"
#include "tuner/space/cost.h"

namespace esc::tuning {

/// What a schedule of family stream is predicted to take: its multiprocessors read units of weights from memory one
/// after the other, whatever the non-zeros are, so that it has no chain of loads and few instructions to count.
/// Constants are those of one H200, by the measurements that docs/journal/2026-11-22-half-precision.md has of 512 x 512
/// to 8192 x 8192 at 8 to 32 columns, which it gives within 20 %.
Cost stream_cost(const StreamSchedule& schedule, const WorkItem& item, const KernelFacts& kernel);

}  // namespace esc::tuning
