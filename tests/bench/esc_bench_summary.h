// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/bench/esc_bench_result.h"

namespace esc::bench {

/// The nearest of the shares of zeros to which matrices are pruned: 50, 60, 70, 80, 90, 95 or 98 per cent.
int sparsity_class(double sparsity);

/// How our kernels did over some pairs. Means are geometric, over the pairs that have both numbers; shares, 0 to 1, are
/// of the pairs with a peer to compare with, and a pair without a right kernel of ours counts as lost. All is absent
/// when no pair has a time of ours.
struct OurSummary {
  std::size_t measured = 0;  ///< pairs with a time
  std::optional<double> microseconds = {};
  std::optional<double> over_exact = {};  ///< how many times faster than the best exact peer
  std::optional<double> over_tf32 = {};
  std::optional<double> fastest_exact = {};  ///< share where ours is the fastest exact one
  std::optional<double> fastest_all = {};    ///< share where ours is the fastest of all
  std::optional<double> over_floor = {};     ///< time over that of the floor
  std::optional<double> cold = {};           ///< microseconds
  std::optional<double> cold_over_exact = {};
  std::optional<double> cold_over_tf32 = {};
};

/// All pairs of one bCol, or those of one sparsity class.
struct GroupSummary {
  std::int64_t bcol = 0;
  std::optional<int> sparsity = {};  ///< the class in per cent; absent: all
  std::size_t pairs = 0;
  OurSummary plain = {};
  OurSummary programmatic = {};
  std::map<std::string, double> peers = {};  ///< geometric means of the peers' times, by their names
};

/// One group for each bCol and class that occurs and one for each bCol, ascending, the class-less one last.
std::vector<GroupSummary> summarise(const std::vector<PairResult>& pairs);

}  // namespace esc::bench
