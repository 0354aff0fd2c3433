// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/bench/esc_bench_result.h"

namespace esc::bench {

/// What one schedule took for one matrix and bCol, in microseconds of a launch; absent where it was not measured or not
/// right.
struct CandidateTime {
  std::optional<double> plain;
  std::optional<double> programmatic;
};

/// A matrix and a number of columns of B.
struct PairKey {
  std::string matrix;
  std::int64_t bcol = 0;
  auto operator<=>(const PairKey&) const = default;
};

/// A pair that was measured whole, with every candidate's times by the schedule's text.
struct MeasuredPair {
  PairResult result;
  std::map<std::string, CandidateTime> candidates;
};

/// The complete pairs of several journals of esc-bench; of a pair that occurs twice, the candidates of both. Throws
/// UserError for a file that cannot be read or a line that is not a record.
std::map<PairKey, MeasuredPair> read_measurements(const std::vector<std::string>& journals);

}  // namespace esc::bench
