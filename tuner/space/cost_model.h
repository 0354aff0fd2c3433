#pragma once

#include <optional>

#include "generator/schedule/schedule.h"
#include "tuner/records/record.h"

namespace esc::tuning {

/// Predicted microseconds of one launch by what takes them. They overlap: their sum is more than the whole.
struct Cost {
  double launch = 0;      ///< launch, first wait and store; more where there are many blocks
  double waiting = 0;     ///< the longest chain of loads that wait for each other
  double traffic = 0;     ///< cache lines that the busiest multiprocessor gets from L2
  double loads = 0;       ///< its load/store unit
  double arithmetic = 0;  ///< its instructions
  double reduction = 0;   ///< sums of several warps, zeroing, and other passes that nothing overlaps
  double microseconds = 0;
};

/// What a schedule is predicted to take for an item, warm, by plain edges. It is made to rank the schedules of one
/// item, not to tell their times: constants are those of an H200, where they were fitted to the fastest schedules of
/// 1,122 pairs of a layer and a bCol; of other devices it knows the multiprocessors and what resides on one. `kernel`
/// replaces the estimate of what the kernel needs, once it has been compiled. Infinite where the kernel cannot reside
/// on a multiprocessor at all.
Cost predicted_cost(const Schedule& schedule, const WorkItem& item, const std::optional<KernelFacts>& kernel = {});

}  // namespace esc::tuning
