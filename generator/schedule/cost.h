// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace esc {

/// Predicted microseconds of one launch by what takes them. They overlap: their sum is more than the whole.
struct Cost {
  double launch = 0;      ///< launch, first wait and store; more where there are many blocks
  double waiting = 0;     ///< the longest chain of loads that wait for each other
  double traffic = 0;     ///< cache lines that the busiest multiprocessor gets from L2
  double loads = 0;       ///< its load/store unit
  double arithmetic = 0;  ///< its instructions
  double reduction = 0;   ///< sums of several warps, zeroing, and other passes that nothing overlaps
  double microseconds = 0;
};

}  // namespace esc
