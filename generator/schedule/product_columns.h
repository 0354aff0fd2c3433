// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace esc {

/// The columns of C for which a schedule is to be legal.
struct ProductColumns {
  // A plain bCol stands for columns that lie one after the other, as row-major arrays have them.
  ProductColumns(long long columns, bool contiguous = true)
      : count(columns), are_contiguous(contiguous) {}  // NOLINT(google-explicit-constructor)

  long long count;
  bool are_contiguous;  ///< whether those of a row of B are one after the other; a lane gains from few of them else
};

/// Columns of C that a block may compute at most: no power of two beyond it is worth idle lanes.
int widest_tile(const ProductColumns& columns);
/// Columns of C that a lane may hold at most: where rows of B have them one after the other what it can load at once,
/// 1, 2 or 4.
int widest_vector(const ProductColumns& columns);

}  // namespace esc
