// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rapidcheck.h>

#include <string>

#include "generator/ir/loop_nest.h"

namespace esc::tests {

/// A nest as the front end reads it, without roles, of one of the forms whose matrices are made of arrays of any
/// dimensions, with numbers for all sizes but M, K and the number of items.
struct DrawnNest {
  LoopNest nest;
  std::int64_t rows = 1;    ///< of the sparse array W that it is for, as a matrix
  std::int64_t stored = 1;  ///< its columns
  std::int64_t groups = 1;
  std::int64_t items = 1;  ///< of X and Y: how far the first digit of a column runs
  std::int64_t item_columns = 1;

  /// Columns of the matrix of the product, in which W's rows are in those of their group.
  std::int64_t reduction() const { return stored * groups; }
};

/// Products with transposed matrices, batches of them, and convolutions of any stride, dilation and padding, guarded
/// where they need it, in both orders of channels and pixels and any order of loops; one of two with an epilogue of a
/// vector and a matrix. One of two has groups, which have dimensions of their own or share them with the rows and
/// columns of W.
rc::Gen<DrawnNest> drawn_nest();

/// Those of them in which four consecutive columns are one after the other, in B and in C: batches of matrices, and
/// convolutions with filters of one column, both of images whose width is a multiple of 4. A lane of a kernel may move
/// its columns at once.
rc::Gen<DrawnNest> drawn_wide_nest();

}  // namespace esc::tests

namespace esc {

void showValue(const tests::DrawnNest& drawn, std::ostream& stream);

}  // namespace esc
