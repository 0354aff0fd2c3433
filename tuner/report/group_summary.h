// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tuner/report/item_summary.h"

namespace esc::tuning {

/// What the measurements of one table have in common.
struct Setting {
  DeviceKey device;
  std::string dtype;
  CacheState cache = CacheState::warm;
  std::string layout = "kn";  ///< as databases name it
  auto operator<=>(const Setting&) const = default;
};
Setting setting_of(const ItemSummary& item);

/// "sm90-132sm-60mib, f32, L2 warm"; and ", nk" after it where the layout is not kn.
std::string print(const Setting& setting);

/// How ours compares with one rival over some layers.
struct Comparison {
  std::size_t layers = 0;                ///< on which both were measured
  std::optional<double> geometric_mean;  ///< of the speed-ups
  std::optional<double> faster;          ///< share of the layers on which ours is faster
};

/// The layers with one number of columns of B.
struct GroupSummary {
  Setting setting;
  std::int64_t bcol = 0;
  std::vector<ItemSummary> items;
  std::size_t right = 0;               ///< layers for which a kernel was right and timed
  std::optional<double> microseconds;  ///< geometric mean of the winners, plain edges
  std::map<Rival, Comparison> plain;
  std::map<Rival, Comparison> chain;  ///< by the times of programmatic edges, where they were measured
  std::map<Verdict, std::size_t> verdicts;
};

/// What a rival is for all of these groups, which may be of several element types.
std::string print(Rival rival, const std::vector<GroupSummary>& groups);

/// The items by setting and columns of B, ascending.
std::vector<GroupSummary> group(const std::vector<ItemSummary>& items);

}  // namespace esc::tuning
