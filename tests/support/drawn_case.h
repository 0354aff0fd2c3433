// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "generator/matrix/sparse_matrix.h"
#include "generator/schedule/schedule.h"
#include "generator/verify/product_case.h"

namespace esc::tests {

/// One product, awkward more often than not, with a kernel of each family that may be asked for it.
struct DrawnCase {
  std::uint64_t seed = 0;
  SparseMatrix a = {};
  std::int64_t bcol = 1;  ///< that the kernels are made for
  AtomicSchedule atomic = {};
  PanelSchedule row_tile = {};
  RowsSchedule rows = {};
  ProductCase product = {};  ///< which columns are asked for, and how B and C lie in memory

  std::vector<Schedule> schedules() const { return {atomic, row_tile, rows}; }
  /// K rows of the product's columns, without gaps.
  std::vector<double> b() const;
};

/// The case of a seed, the same one wherever it runs: one row or column, empty and full rows, sizes that nothing
/// divides, more columns than 16 bits count, f32 and f64; bCol 1 to 257, leading dimensions beyond n, B and C each at
/// any alignment; any schedules that are legal for bCol and the matrix.
DrawnCase draw_case(std::uint64_t seed);

/// The case in words, with what repeats it: "ESC_CASE=17: 7 x 13 of f32 ...".
std::string print(const DrawnCase& drawn);

/// What a run takes: the cases of 400 seeds with ESC_SWEEP=full, else a part of 100 in which all pairs of what tells
/// those apart come up. ESC_CASE=N takes the case with that seed alone.
std::vector<DrawnCase> cases_of_the_run();
bool one_case_is_asked_for();

}  // namespace esc::tests
