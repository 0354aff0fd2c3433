// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "tuner/report/group_summary.h"
#include "tuner/report/heat_map.h"

namespace esc::tuning {

/// The schedules of one UFi and UFk: the fastest of them for each layer, against the fastest of their family for that
/// layer.
struct CoarseningCell {
  std::size_t layers = 0;
  double relative_time = 1;     ///< geometric mean over the layers
  std::optional<double> warps;  ///< resident on a multiprocessor, mean over the layers' fastest; absent where not known
};

/// The trade between reuse of registers and occupancy (the paper's Fig. 5) from the times of one group: by UFi and UFk,
/// for "atomic" or "panel". Empty where no schedule of the family was timed.
std::map<std::pair<int, int>, CoarseningCell> coarsening_map(const GroupSummary& group,
                                                             const std::map<ItemKey, ItemResults>& items,
                                                             const std::string& family);

/// The same as a picture: relative times, and the warps in each cell.
HeatMap heat_map(const std::map<std::pair<int, int>, CoarseningCell>& cells, const std::string& title);

/// Warps of a kernel that reside on a multiprocessor together; absent where the device is too old for that to be known.
std::optional<int> warps_on(const DeviceKey& device, const KernelFacts& kernel);

}  // namespace esc::tuning
