// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "generator/schedule/atomic_schedule.h"
#include "generator/schedule/bitmap_schedule.h"
#include "generator/schedule/directive.h"
#include "generator/schedule/gather_schedule.h"
#include "generator/schedule/panel_schedule.h"
#include "generator/schedule/rows_schedule.h"
#include "generator/schedule/stream_schedule.h"

namespace esc {

/// A schedule of any family.
using Schedule =
    std::variant<AtomicSchedule, PanelSchedule, RowsSchedule, StreamSchedule, GatherSchedule, BitmapSchedule>;

/// Reads "4-7-1-32" or "FAMILY: key=value, ..." with the keys of schedule_keys.h, or those that the releases before
/// had: "stream: tile=32x256x16, warps=4", "stream:columns=16,row tiles=1,rows=32,warps=4". Spaces are free. Keys may
/// come in any order and be left out (then the family's defaults hold).
/// Throws ScheduleError for an unknown family or key, a repeated key, or a value that is out of range whatever the
/// columns are.
Schedule parse_schedule(std::string_view text);

/// The canonical text, keys in fixed order; parse_schedule(print(s)) == s.
std::string print(const Schedule& schedule);

/// "atomic", "row tile", "rows", "stream", "gather" or "bitmap".
std::string family(const Schedule& schedule);

/// Rows in a row tile; 1 for family rows, which has none.
int row_tile_height(const Schedule& schedule);

/// Throws ScheduleError unless the schedule is legal for these columns; names the nearest legal value.
void check_legal(const Schedule& schedule, const ProductColumns& columns);

/// The directives that the schedule stands for, in the order of the pipeline; loops i, j, k and array A of the
/// canonical nest.
std::vector<Directive> expand(const Schedule& schedule);

}  // namespace esc
