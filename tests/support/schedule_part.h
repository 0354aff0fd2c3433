// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "generator/schedule/schedule.h"

namespace esc::tests {

/// A schedule that is legal for a bCol.
struct ScheduleFor {
  std::int64_t bcol = 1;
  Schedule schedule;
};

/// All legal schedules for the bCols that differ in what is legal: far from and at powers of two, divided by four or
/// not. In family atomic with compaction and without, in the others with pdl on.
std::vector<ScheduleFor> legal_atomic();
std::vector<ScheduleFor> legal_panel();
std::vector<ScheduleFor> legal_rows();
/// Each for one bCol, which take turns: whatever it is, they are legal.
std::vector<ScheduleFor> legal_gather();
/// Each for one of those that are as wide as its columns, likewise; B's rows have them beside each other, or not.
std::vector<ScheduleFor> legal_bitmap(bool are_contiguous);

/// All that are legal for a bCol, found once: checking each of thousands takes longer than making a kernel.
const std::vector<PanelSchedule>& legal_panel_for(std::int64_t bcol);
const std::vector<RowsSchedule>& legal_rows_for(std::int64_t bcol);

/// The values of its parameters, bCol first.
std::vector<int> keys_of(const ScheduleFor& one);

/// What an ordinary run takes of them, ascending: all values and all pairs of values of the parameters and of bCol come
/// up; under the sanitizers a part of that (run_size.h).
std::vector<ScheduleFor> ordinary_part(const std::vector<ScheduleFor>& legal);

/// For each bCol about as many of them as `wanted` says, drawn by a hash of their text, and the ordinary part.
std::vector<ScheduleFor> drawn_part(const std::vector<ScheduleFor>& legal,
                                    const std::function<std::size_t(std::int64_t bcol)>& wanted);
constexpr std::size_t all_of_them = std::numeric_limits<std::size_t>::max();

}  // namespace esc::tests
