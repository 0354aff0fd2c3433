// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "tuner/search/stop_rule.h"

namespace esc::tuning {

/// Some samples in a row, with the clock of the multiprocessors beside them.
struct Batch {
  std::vector<double> microseconds;
  int clock_megahertz = 0;  ///< 0: not known
};

/// Batches that were taken while the device ran slower than it can say nothing about the kernel.
class ThrottleGuard {
 public:
  /// Whether a batch counts: its clock is not known, or at least 95 % of the highest that was seen so far.
  bool accepts(int clock_megahertz);

 private:
  int highest_ = 0;
};

/// The samples that count, and the clock of the last of them.
struct Sampling {
  std::vector<double> samples;
  int clock_megahertz = 0;
  int dropped = 0;  ///< batches that were taken at a lower clock
};

/// Takes batches until the rule has enough; `launches` is how many launches a sample is the mean of. A device that
/// stays slow gives no samples: after `most_dropped` batches in vain it ends.
Sampling take_samples(const StopRule& rule, std::size_t launches, ThrottleGuard& guard,
                      const std::function<Batch()>& take);

constexpr int most_dropped = 20;

}  // namespace esc::tuning
