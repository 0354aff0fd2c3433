#pragma once

#include <string>
#include <variant>
#include <vector>

#include "generator/support/error.h"

namespace esc {

/// unroll(loop, factor): the loop advances by `factor` and its statements are repeated (paper, 3.2.1). For the row loop
/// the factor is UFi; for the reduction loop it is UFk and coarsens the threads (3.3.2).
struct Unroll {
  std::string loop;
  int factor = 1;
  bool operator==(const Unroll&) const = default;
};
/// map(loop, grid): the row loop becomes thread blocks, one per (panel, pattern) (paper, 3.2.2).
struct MapGrid {
  std::string loop;
  bool operator==(const MapGrid&) const = default;
};
/// map(loop, columns, threads): a warp takes `columns` consecutive iterations of the column loop, each lane every 32nd of
/// them; a block has `threads` threads (paper, 3.3.1).
struct MapLanes {
  std::string loop;
  int columns = 32;
  int threads = 32;
  bool operator==(const MapLanes&) const = default;
};
/// transform(array): the sparse array is stored in the order in which the code reads it (paper, 3.3.3).
struct Transform {
  std::string array;
  bool operator==(const Transform&) const = default;
};
/// compact(): one body per number of non-zero rows in place of one per pattern (paper, 3.5).
struct Compact {
  bool operator==(const Compact&) const = default;
};
/// merge(): one case for all patterns of a panel, whose updates run over every row: explicit zeros in place of cases.
struct MergePatterns {
  bool operator==(const MergePatterns&) const = default;
};
/// map(i, grid, panels=4, warp=2): a thread block owns `panels` consecutive panels, and each of its warps `warp_panels`.
struct MapPanels {
  std::string loop;
  int panels = 1;
  int warp_panels = 1;
  bool operator==(const MapPanels&) const = default;
};
/// map(j, grid, columns=32, vector=4): a block computes `columns` columns of C; a lane holds `vector` consecutive ones.
struct MapTiles {
  std::string loop;
  int columns = 32;
  int vector = 1;
  bool operator==(const MapTiles&) const = default;
};
/// split(k, warps=8, groups=4): the columns of a panel are dealt in turn to the lane groups of several warps.
struct SplitColumns {
  std::string loop;
  int warps = 1;
  int groups = 1;
  bool operator==(const SplitColumns&) const = default;
};
/// reduce(): sums are kept in scalars, added over lane groups by shuffles and over warps in shared memory, and stored once.
struct ReduceSums {
  bool operator==(const ReduceSums&) const = default;
};
/// transform(A, regions, 4): the sparse array is stored as one region for each warp, in the order in which the warp reads
/// it; the columns of a lane group are filled up to a multiple of `multiple` with zeros.
struct PackRegions {
  std::string array;
  int multiple = 4;
  bool operator==(const PackRegions&) const = default;
};
/// stage(A): each warp copies its region to shared memory before it reads it.
struct StageRegions {
  std::string array;
  bool operator==(const StageRegions&) const = default;
};
/// cut(k, 128): the non-zeros of a row are cut into tasks of at most `task`.
struct CutRows {
  std::string loop;
  int task = 128;
  bool operator==(const CutRows&) const = default;
};
/// transform(A, tasks, light=16): the sparse array is stored as a list of tasks, longest first, those of more than `light`
/// non-zeros in front of the others, and the non-zeros in the order of the tasks.
struct PackTasks {
  std::string array;
  int light = 16;
  bool operator==(const PackTasks&) const = default;
};
/// map(task, grid, warps=4, groups=8): a warp takes a heavy task or, with each of `groups` lane groups, a light one; a
/// thread block has `warps` warps.
struct MapTasks {
  std::string loop;
  int warps = 1;
  int groups = 1;
  bool operator==(const MapTasks&) const = default;
};
using Directive = std::variant<Unroll, MapGrid, MapLanes, Transform, Compact, MergePatterns, MapPanels, MapTiles,
                               SplitColumns, ReduceSums, PackRegions, StageRegions, CutRows, PackTasks, MapTasks>;

/// "unroll(i, 4)", "map(i, grid)", "map(j, 64, threads=32)", "transform(A)", "compact()", "merge()", ...
std::string print(const Directive& directive);
std::string print(const std::vector<Directive>& directives);

/// A directive or schedule that breaks a rule: which one, on which loop, the rule, and the nearest legal choice.
class ScheduleError : public UserError {
 public:
  ScheduleError(const Directive& directive, const std::string& rule, const std::string& remedy)
      : UserError(print(directive), rule, remedy) {}
  ScheduleError(const std::string& schedule, const std::string& rule, const std::string& remedy)
      : UserError(schedule, rule, remedy) {}
};

}  // namespace esc
