// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "generator/commands/expected_speed.h"
#include "generator/commands/token_counts.h"

namespace esc {

/// What the products of a model's layers are expected to take, each as often as its number of columns weighs, by what
/// decides which layers stay dense: measured times, and predicted ones where nobody has measured.
struct WeightedTimes {
  int kernels = 0;
  int known = 0;       ///< of them those whose time is known
  int predicted = 0;   ///< of those the ones that nobody has measured
  double library = 0;  ///< microseconds
  double ours = 0;     ///< microseconds

  void add(const ExpectedSpeed& speed, double weight);
};

/// "weighted   10 x N = 1, 1 x N = 16: about 81.0 us in place of 105.0 (1.30 x) for 10 of 12 kernels, 6 predicted";
/// `where` is in front, as in "sm_90, ".
std::string weighted_line(const std::vector<TokenCount>& counts, const WeightedTimes& times,
                          const std::string& where = "");

/// The same for machines.
nlohmann::json weighted_json(const WeightedTimes& times);

}  // namespace esc
