// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "tuner/records/record.h"

namespace esc::tuning {

/// How two kernels compare that were measured in turns.
struct PairedComparison {
  Verdict verdict = Verdict::unsure;
  double ratio = 1;  ///< median over the rounds of the challenger's time over the incumbent's
  double low = 0;    ///< the ratio is between these with at least 95 % confidence; 0 and infinity for few rounds
  double high = 0;
};

/// Differences up to this one do not matter: what separates two runs of the same kernel on the same machine.
constexpr double indifference = 0.01;

/// Compares the times of two kernels round by round: what disturbs a round disturbs both. The interval is that of the
/// sign test between order statistics of the rounds' ratios, which supposes nothing about their distribution. BETTER:
/// all of it is below 1 - indifference; WORSE: above 1 + indifference; SAME: between the two; else UNSURE. `challenger`
/// and `incumbent` have the same length.
PairedComparison compare(const std::vector<double>& challenger, const std::vector<double>& incumbent);

}  // namespace esc::tuning
