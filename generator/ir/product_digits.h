// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "generator/ir/loop_nest.h"

namespace esc {

/// The iterators that the rows, the reduction and the columns of a product are made of, the most significant first,
/// each with the extent that its loop runs to: rows and reduction in the order of the sparse array's subscripts,
/// columns in that of the output's. Iterators of groups are digits of the rows, where they are among them, and the
/// first digits of the reduction:
///
///   Y[b][g][f][p] += W[g][f][c][r] * X[b][g][c][p + r]
///     -> rows (g, f), reduction (g, c, r), columns (b, p): the matrix of W has its non-zeros where both g are the same
struct ProductDigits {
  std::vector<Digit> rows;
  std::vector<Digit> reductions;
  std::vector<Digit> columns;
  std::size_t groups = 0;  ///< how many of the reduction's digits, its first, are rows' too

  /// The digit of this name, of whichever role; null where there is none.
  const Digit* find(const std::string& name) const;
};

/// Those of a nest as lower/assign_roles leaves it: loops with roles around one update, whose sparse and output
/// elements are each indexed by iterators alone. Throws Defect for any other nest.
ProductDigits digits_of(const LoopNest& nest);

/// How many elements the digits count; nothing where one has an extent that is no number.
std::optional<std::int64_t> count_of(const std::vector<Digit>& digits);

/// The values of the digits of a number. All extents but the first must be numbers.
std::vector<std::int64_t> values_of(std::int64_t number, const std::vector<Digit>& digits);

/// The digits that the index counts with, the most significant first: {g, f} for 4*g + f where f runs to 4. Nothing
/// where it counts otherwise, with one iterator alone or with none of `iterators`, which come from the outermost loop
/// to the innermost.
std::optional<std::vector<Digit>> digits_of_index(const Affine& index, const std::vector<Digit>& iterators);

/// The update of such a nest, its guard, and the element of an array that its value reads. Throw Defect where there is
/// none.
const Update& update_of(const LoopNest& nest);
const Guard& guard_of(const LoopNest& nest);
Access element_read(const Update& update, const std::string& array);

}  // namespace esc
