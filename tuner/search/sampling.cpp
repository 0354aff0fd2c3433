// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/sampling.h"

#include <algorithm>

namespace esc::tuning {

bool ThrottleGuard::accepts(int clock_megahertz) {
  constexpr double least_share = 0.95;
  if (clock_megahertz <= 0) {
    return true;
  }
  highest_ = std::max(highest_, clock_megahertz);
  return clock_megahertz >= least_share * highest_;
}

Sampling take_samples(const StopRule& rule, std::size_t launches, ThrottleGuard& guard,
                      const std::function<Batch()>& take) {
  Sampling sampling;
  while (sampling.dropped < most_dropped && !enough(rule, sampling.samples, launches)) {
    const Batch batch = take();
    if (guard.accepts(batch.clock_megahertz)) {
      sampling.samples.insert(sampling.samples.end(), batch.microseconds.begin(), batch.microseconds.end());
      sampling.clock_megahertz = batch.clock_megahertz;
    } else {
      ++sampling.dropped;
    }
  }
  return sampling;
}

}  // namespace esc::tuning
