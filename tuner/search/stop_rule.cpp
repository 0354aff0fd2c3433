// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/stop_rule.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tuner/records/record.h"

namespace esc::tuning {

double median_error(const std::vector<double>& samples) {
  constexpr double quartiles_apart = 1.349;  // in standard deviations of a normal distribution
  constexpr double of_median = 1.2533;       // standard error of its median over that of its mean
  if (samples.empty()) {
    return 0;
  }
  return of_median * relative_spread(samples) / quartiles_apart / std::sqrt(static_cast<double>(samples.size()));
}

bool enough(const StopRule& rule, const std::vector<double>& samples, std::size_t launches) {
  const auto count = static_cast<int>(samples.size());
  if (count < rule.least) {
    return false;
  }
  const double spent = std::accumulate(samples.begin(), samples.end(), 0.0) * static_cast<double>(launches);
  return count >= rule.most || spent >= rule.budget ||
         (rule.hopeless > 0 && *std::ranges::min_element(samples) > rule.hopeless) ||
         median_error(samples) <= rule.spread;
}

}  // namespace esc::tuning
