// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "generator/schedule/kernel_facts.h"
#include "generator/schedule/layer_class.h"
#include "generator/schedule/schedule.h"

namespace esc {

/// What the kernel of a schedule will need, before it is compiled and before its matrix is packed. Registers follow
/// formulas that are within 10 of what nvcc 13.0 gives for sm_90 on 40 schedules of all families; shared memory and
/// packed bytes follow from the mean and the variation of the rows' lengths.
KernelFacts estimated_kernel(const PanelSchedule& schedule, const LayerShape& shape);
KernelFacts estimated_kernel(const RowsSchedule& schedule, const LayerShape& shape);
KernelFacts estimated_kernel(const AtomicSchedule& schedule, const LayerShape& shape);
KernelFacts estimated_kernel(const GatherSchedule& schedule, const LayerShape& shape);
KernelFacts estimated_kernel(const BitmapSchedule& schedule, const LayerShape& shape);
KernelFacts estimated_kernel(const Schedule& schedule, const LayerShape& shape);

/// Lengths of the row tiles of `height` rows when the non-zeros of rows do not know of each other: columns with a
/// non-zero in any of the rows.
struct RowTileLength {
  double mean = 0;
  double longest = 0;    ///< of most row tiles: two standard deviations above the mean
  double variation = 0;  ///< coefficient of it
};
RowTileLength row_tile_length(const LayerShape& shape, int height);

/// The tasks into which family rows cuts a layer, when the lengths of its rows have a log-normal distribution.
struct TaskCounts {
  double heavy = 0;
  double heavy_nonzeros = 0;
  double light = 0;
  double light_nonzeros = 0;
  bool splits = false;  ///< whether a row has several tasks
};
TaskCounts task_counts(const LayerShape& shape, const RowsSchedule& schedule);

/// The lists of family atomic: (row tile, pattern) pairs that have a column, and the columns in all of them.
struct ListCounts {
  double lists = 0;
  double columns = 0;
};
ListCounts list_counts(const LayerShape& shape, int height);

}  // namespace esc
