// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "tuner/records/record.h"
#include "tuner/space/cuts.h"

namespace esc::tuning {

/// What is going to be done for one item.
struct PlannedItem {
  WorkItem item;
  Candidates candidates;
  std::size_t done = 0;  ///< candidates that an earlier run has left records of
  bool decided = false;  ///< by an earlier run, so that nothing is measured
};

/// What the time of a run is estimated from, in milliseconds; the defaults are those of a night on an H200.
struct TimeEstimate {
  double of_candidate = 4;  ///< check and measurement on the GPU
  double of_item = 300;     ///< libraries and the final
  double of_build = 45;     ///< by NVRTC, on one core
  int builders = 1;         ///< that build at once
};

/// What `--list` shows: for each item how many candidates remain and why the others went, the time that this is
/// estimated to take, and the sums. The estimate counts every kernel (of a schedule and a bCol) as built once. Both are
/// the same for the same plan.
std::string listing_text(const std::vector<PlannedItem>& plan, const TimeEstimate& estimate);
std::string listing_json(const std::vector<PlannedItem>& plan, const TimeEstimate& estimate);

}  // namespace esc::tuning
