// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "generator/schedule/directive.h"
#include "generator/schedule/panel_schedule.h"

namespace esc {

/// A schedule for rows of very different lengths. Every row is cut into tasks of at most `task` non-zeros, and the
/// tasks are taken longest first. A heavy task, of more than `light` non-zeros, has a warp to itself, whose lane groups
/// share them; a light one has one lane group. A row that is one task is stored; the tasks of a row that was split are
/// added to it atomically, after a small kernel has set just those rows to zero.
///
/// A lane holds `vector` consecutive columns of C: as many as it loads at once or, where rows of B have them apart, up
/// to 16. columns / vector lanes form a group, which covers the block's columns.
struct RowsSchedule {
  int columns = 32;  ///< columns of C that a block computes
  int vector = 4;    ///< consecutive columns of a lane: floats per load of B
  int unroll = 4;    ///< non-zeros per lane group and iteration
  int task = 128;    ///< most non-zeros of a task
  int light = 16;    ///< most non-zeros of a task that one lane group takes
  int warps = 4;     ///< warps in a block
  bool pdl = true;   ///< programmatic dependent launch: the packed matrix is read before the kernel before has ended

  static constexpr int max_columns = PanelSchedule::max_columns;
  static constexpr int max_vector = PanelSchedule::max_vector;
  static constexpr int max_parts = 64;  ///< elements of B that a lane has registers for at a time
  static constexpr int max_unroll = 8;
  static constexpr int max_task = 512;  ///< bounds how many products one float32 sum runs over
  static constexpr int max_warps = 16;

  /// Lanes of a group, groups of a warp, light tasks of a block, threads of a block.
  int group_lanes() const { return columns / vector; }
  int warp_groups() const { return 32 / group_lanes(); }
  int block_groups() const { return warps * warp_groups(); }
  int threads() const { return 32 * warps; }

  bool operator==(const RowsSchedule&) const = default;
};

/// Reads the settings after "rows:". `text` is the whole schedule, the place of errors. Throws ScheduleError.
RowsSchedule parse_rows(std::string_view text, std::string_view settings);

/// "rows: tile=1x32, thread=1x4, unroll_k=4, task=128, light=16, warps=4, pdl=on".
std::string print(const RowsSchedule& schedule);

/// Throws ScheduleError where a value is out of range whatever the columns are; the second one also where it is for
/// these.
void check_ranges(const RowsSchedule& schedule);
void check_legal(const RowsSchedule& schedule, const ProductColumns& columns);

/// Every legal schedule of the family for this bCol with pdl on, in ascending order.
std::vector<RowsSchedule> legal_rows_schedules(long long bcol);

/// The directives in the order of the pipeline; loops i, j, k and array A of the canonical nest.
std::vector<Directive> expand(const RowsSchedule& schedule);

}  // namespace esc
