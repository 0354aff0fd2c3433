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
};

/// What the time of a run is estimated from, in milliseconds.
struct TimeEstimate {
  double of_candidate = 4;  ///< check and measurement on the GPU
  double of_build = 45;     ///< by NVRTC, on one core
  int cores = 1;
};

/// What `--list` shows: for each item how many candidates remain and why the others went, the time that this is
/// estimated to take, and the sums. The estimate counts every kernel (of a schedule and a bCol) as built once; nothing
/// for the libraries and the final. Both are the same for the same plan.
std::string listing_text(const std::vector<PlannedItem>& plan, const TimeEstimate& estimate);
std::string listing_json(const std::vector<PlannedItem>& plan, const TimeEstimate& estimate);

}  // namespace esc::tuning
