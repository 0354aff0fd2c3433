// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "generator/schedule/directive.h"
#include "generator/schedule/product_columns.h"

namespace esc {

/// The paper's schedule, UFi-UFk-WarpTile-ThreadBlockSize: a block per (row tile, pattern), sums by atomic adds.
struct AtomicSchedule {
  int ufi = 4;       ///< rows in a row tile
  int ufk = 1;       ///< enumerated columns per iteration
  int warptile = 1;  ///< columns of C that one thread owns
  int threads = 32;  ///< threads in a block
  bool compaction = true;

  static constexpr int max_ufi = 8;
  static constexpr int max_ufk = 16;
  static constexpr int max_warptile = 4;
  static constexpr int max_threads = 256;

  bool operator==(const AtomicSchedule&) const = default;
};

/// Reads the settings after "atomic:", or, without that, the short form "4-7-1-32". `text` is the whole schedule, the
/// place of errors. Both throw ScheduleError.
AtomicSchedule parse_atomic(std::string_view text, std::string_view settings);
AtomicSchedule parse_short_atomic(std::string_view text);

/// "atomic: thread=4x1, unroll_k=7, threads=32", with "compaction=off" where it is off.
std::string print(const AtomicSchedule& schedule);

/// Throws ScheduleError where a value is out of range whatever the columns are; the second one also where it is for
/// these.
void check_ranges(const AtomicSchedule& schedule);
void check_legal(const AtomicSchedule& schedule, const ProductColumns& columns);

/// Every legal schedule of the family for this bCol, with compaction, in ascending order.
std::vector<AtomicSchedule> legal_atomic_schedules(long long bcol);

/// The directives in the order of the pipeline; loops i, j, k and array A of the canonical nest.
std::vector<Directive> expand(const AtomicSchedule& schedule);

}  // namespace esc
