// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/schedule/kernel_facts.h"
#include "generator/schedule/layer_class.h"
#include "generator/schedule/schedule.h"

namespace esc {

/// The work of one launch, before it is spread over a device: what the schedules of each family come to in common
/// terms.
struct Work {
  double block_warps = 1;
  double chain = 0;           ///< loads that wait for each other, one after another, in the busiest warp
  bool staged = false;        ///< whether these find the sparse matrix in shared memory
  double instructions = 0;    ///< of all warps
  double wavefronts = 0;      ///< of the load/store units, all warps
  double sparse_lines = 0;    ///< cache lines of the packed matrix, all warps
  double dense_lines = 0;     ///< requests for cache lines of B, all warps
  double distinct_lines = 0;  ///< cache lines of B that one tile of columns has
  double tiles = 1;           ///< tiles of columns
  bool adds_warps = false;    ///< whether warps add up sums in shared memory
  double extra_passes = 0;    ///< launches in front that set C to zero
};

Work work_of(const PanelSchedule& schedule, const LayerShape& shape);
Work work_of(const RowsSchedule& schedule, const LayerShape& shape);
Work work_of(const AtomicSchedule& schedule, const LayerShape& shape);

}  // namespace esc
