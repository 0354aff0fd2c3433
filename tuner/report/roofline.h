// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "tuner/report/group_summary.h"
#include "tuner/report/xy_chart.h"

namespace esc::tuning {

/// Where one winner is below the ceilings of its device.
struct RooflinePoint {
  const ItemSummary* item = nullptr;
  double intensity = 0;  ///< 2 * non-zeros * bCol operations over the bytes of the packed matrix, B and C, each once
  double gigaflops = 0;  ///< per second, explicit zeros not counted
};

/// Bytes of B and of C, each once.
double bytes_of_b(const WorkItem& item);
double bytes_of_c(const WorkItem& item);

/// Absent where the winner's time or the size of its packed matrix is not known, or the matrix is empty.
std::optional<RooflinePoint> roofline_point(const ItemSummary& item);

/// The points of the groups, which have one setting, with the ceilings of their device where those are known.
XyChart roofline(const std::vector<GroupSummary>& groups);

}  // namespace esc::tuning
