// SPDX-License-Identifier: Apache-2.0
#include "tuner/search/comparison.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "generator/support/error.h"

namespace esc::tuning {
namespace {

constexpr double confidence = 0.95;

/// How many of `count` ordered values may lie outside each end of an interval that still has the median of what they
/// are drawn from between its ends often enough; nothing where even all of them are too few.
std::optional<std::size_t> values_outside(std::size_t count) {
  // The median is below the value of rank r (from 0) with the probability of at most r heads in `count` throws.
  double term = std::exp2(-static_cast<double>(count));
  double tail = 0;
  std::optional<std::size_t> outside;
  for (std::size_t rank = 0; rank <= count / 2; ++rank) {
    tail += term;
    if (2 * tail > 1 - confidence) {
      break;
    }
    outside = rank;
    term *= static_cast<double>(count - rank) / static_cast<double>(rank + 1);
  }
  return outside;
}

Verdict verdict_of(double low, double high) {
  if (high < 1 - indifference) {
    return Verdict::better;
  }
  if (low > 1 + indifference) {
    return Verdict::worse;
  }
  return low >= 1 - indifference && high <= 1 + indifference ? Verdict::same : Verdict::unsure;
}

}  // namespace

PairedComparison compare(const std::vector<double>& challenger, const std::vector<double>& incumbent) {
  ESC_CHECK(challenger.size() == incumbent.size(), "both have a time for each round");
  std::vector<double> ratios;
  for (std::size_t round = 0; round < challenger.size(); ++round) {
    if (challenger[round] > 0 && incumbent[round] > 0) {
      ratios.push_back(challenger[round] / incumbent[round]);
    }
  }
  PairedComparison result{.low = 0, .high = std::numeric_limits<double>::infinity()};
  if (ratios.empty()) {
    return result;
  }
  result.ratio = median(ratios);
  std::ranges::sort(ratios);
  if (const std::optional<std::size_t> outside = values_outside(ratios.size())) {
    result.low = ratios[*outside];
    result.high = ratios[ratios.size() - 1 - *outside];
  }
  result.verdict = verdict_of(result.low, result.high);
  return result;
}

}  // namespace esc::tuning
