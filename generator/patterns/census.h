// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "generator/ir/pattern.h"
#include "generator/matrix/sparse_matrix.h"

namespace esc {

/// How often each pattern occurs in a matrix that is cut into row tiles of `height` rows.
struct PatternCensus {
  int height = 1;
  std::int64_t row_tiles = 0;
  std::int64_t nonzeros = 0;
  std::map<Pattern, std::int64_t> columns;  ///< enumerated columns per pattern; only patterns that occur
  std::int64_t occupied_pairs = 0;          ///< (row tile, pattern) pairs that have a column

  std::int64_t enumerated_columns() const;
  /// Multiply-adds per loaded element of B: 1 without reuse, at most `height`. 0 for a matrix without non-zeros.
  double reuse() const;
  /// Share of the row tiles * (2^height - 1) pairs that have no column.
  double empty_pairs() const;
  /// The patterns that occur, ascending.
  std::vector<Pattern> patterns() const;

  bool operator==(const PatternCensus&) const = default;
};

/// Throws Defect for a height outside 1 to 8.
PatternCensus take_census(const SparseMatrix& matrix, int height);

}  // namespace esc
