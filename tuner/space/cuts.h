// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "generator/schedule/schedule.h"
#include "tuner/records/record.h"

namespace esc::tuning {

/// How much of a search space is left out before anything is built or measured.
struct CutLimits {
  double factor = 2;         ///< the prediction of what is kept is at most this much over the best one
  std::size_t most = 240;    ///< the best of the others; about a third of the space of family panel
  std::size_t of_group = 2;  ///< the best of each group of equal family, UFi and columns are kept whatever else is cut
};

/// A schedule that is tried.
struct Candidate {
  Schedule schedule;
  double predicted_microseconds = 0;
  std::string would_be_cut;  ///< why, where cuts are switched off; else empty
};

/// A schedule that is not tried.
struct Cut {
  Schedule schedule;
  std::string reason;  ///< one of few sentences, the same for all schedules that it holds for
  double predicted_microseconds = 0;
};

struct Candidates {
  std::vector<Candidate> kept;  ///< in the order of their predictions
  std::vector<Cut> cut;         ///< in the same order
};

/// Why a kernel is not worth measuring by what it needs of a multiprocessor; absent where it is. Holds for the estimate
/// before compiling and for the compiled kernel: one that cannot reside on a multiprocessor, and one that keeps too few
/// warps there though its grid would fill the device with more: 8 for families panel and rows, 4 for family stream,
/// whose copies wait for no warp; for family atomic 16 and, where UFk is more than 1, 12, the limits of the paper
/// (3.4).
std::optional<std::string> occupancy_cut(const Schedule& schedule, const KernelFacts& kernel, const DeviceKey& device);

/// What is tried for an item, of a space without repetitions. `always` are schedules that no cut holds for, in the
/// space or not, such as the one that holds so far. Does not depend on the order of the space. `exhaustive` switches
/// the cuts off and marks what they would have cut, so that it can be told what they would have lost.
Candidates choose_candidates(const std::vector<Schedule>& space, const WorkItem& item, const CutLimits& limits,
                             const std::vector<Schedule>& always = {}, bool exhaustive = false);

}  // namespace esc::tuning
