// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <compare>
#include <cstdint>
#include <string>

namespace esc {

/// The pattern of one column inside a row tile: bit r of `mask` is set where row r of the row tile is non-zero.
/// `height` is the number of rows in the row tile (UFi), 1 to 64; bits at and above it are clear.
struct Pattern {
  std::uint64_t mask = 0;
  int height = 0;

  /// Number of non-zero rows: the FMAs that each loaded element of B feeds.
  int popcount() const { return std::popcount(mask); }
  bool has_row(int row) const { return ((mask >> row) & 1U) != 0; }
  /// How many set rows are before `row`: the place of that row's value among the column's values.
  int rank(int row) const { return std::popcount(mask & ((std::uint64_t{1} << row) - 1)); }

  auto operator<=>(const Pattern&) const = default;
};

/// "0b1101": one digit per row of the row tile, row 0 rightmost.
std::string print(const Pattern& pattern);

}  // namespace esc
