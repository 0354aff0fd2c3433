// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace esc::tuning {

/// When enough samples of a candidate were taken: NVBench's way, on the relative spread or the budget, and earlier for
/// a candidate that cannot be among the best any more.
struct StopRule {
  int least = 5;         ///< samples, before anything is decided
  int most = 25;         ///< samples
  double spread = 0.01;  ///< relative error of the median that is good enough
  double hopeless =
      0;  ///< microseconds; one whose fastest sample is slower is given up after the least number; 0: never
  double budget = 50'000;  ///< microseconds of device time, launches of all samples together

  bool operator==(const StopRule&) const = default;
};

/// Whether to stop after these samples (microseconds of one launch). `launches` is how many launches each sample is the
/// mean of.
bool enough(const StopRule& rule, const std::vector<double>& samples, std::size_t launches);

/// The relative error of the median, from how far the middle half of the samples reaches: 1.25 standard errors of the
/// mean, for a normal distribution, with the standard deviation taken from the quartiles.
double median_error(const std::vector<double>& samples);

}  // namespace esc::tuning
