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
using Directive = std::variant<Unroll, MapGrid, MapLanes, Transform, Compact>;

/// "unroll(i, 4)", "map(i, grid)", "map(j, 64, threads=32)", "transform(A)", "compact()".
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
