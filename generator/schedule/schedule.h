#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "generator/schedule/directive.h"

namespace esc {

/// The paper's schedule, UFi-UFk-WarpTile-ThreadBlockSize: a block per (panel, pattern), sums by atomic adds.
struct AtomicSchedule {
  int ufi = 4;        ///< rows in a panel
  int ufk = 1;        ///< enumerated columns per iteration
  int warptile = 1;   ///< columns of C that one thread owns
  int threads = 32;   ///< threads in a block
  bool compaction = true;

  static constexpr int max_ufi = 8;
  static constexpr int max_ufk = 16;
  static constexpr int max_warptile = 4;
  static constexpr int max_threads = 256;

  bool operator==(const AtomicSchedule&) const = default;
};

/// A schedule of any family.
using Schedule = std::variant<AtomicSchedule>;

/// Reads "4-7-1-32" or "atomic:ufi=4,ufk=7,warptile=1,threads=32[,compaction=off]". Keys may come in any order and be left
/// out (then the default above holds). Throws ScheduleError for an unknown family or key, a repeated key, or a value that
/// is out of range whatever bCol is.
Schedule parse_schedule(std::string_view text);

/// The canonical text, keys in fixed order; parse_schedule(print(s)) == s.
std::string print(const Schedule& schedule);

/// Throws ScheduleError unless the schedule is legal for this bCol; names the nearest legal value.
void check_legal(const Schedule& schedule, long long bcol);

/// Every legal schedule of the family `atomic` for this bCol, with compaction, in ascending order.
std::vector<AtomicSchedule> legal_atomic_schedules(long long bcol);

/// The directives that the schedule stands for, in the order of the pipeline; loops i, j, k and array A of the canonical nest.
std::vector<Directive> expand(const Schedule& schedule);

}  // namespace esc
