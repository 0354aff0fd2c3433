// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "generator/ir/affine.h"

namespace esc {

/// An iterator that the number of a row or of a column is made of.
struct Digit {
  std::string name;
  Affine extent;
  bool operator==(const Digit&) const = default;
};

/// A dimension of an array as it is stored, and which of its indices a digit combination stands for.
struct StoredDimension {
  Affine extent;
  Affine index;  ///< in the digits' names
  bool padded =
      false;  ///< the index may lie outside of the extent: the element is zero there, and nothing is stored for it
  bool operator==(const StoredDimension&) const = default;
};

/// How a matrix of the product lies in an array of any dimensions. The number of a row is that of its digits, the first
/// of which is the most significant one, and so is that of a column; the element is where the indices of the
/// dimensions, outermost first, say:
///
///   B[k][j], row-major       row k, column j; dimensions [K: k][N: j]
///   X[t][k], as PyTorch has  row k, column t; dimensions [N: t][K: k]
///   X[b][c][2p + r - 1][..]  row (c, r, s), column (b, p, q); dimensions [N: b][C: c][H: 2p + r - 1, padded][W: ..,
/// padded]
///
/// Indices of the outermost dimension are a leading dimension apart, which a caller gives; inside of it there are no
/// gaps. Only the first digit of a column may have an extent that is not known before a call: N is the product of all
/// of them.
struct Layout {
  std::vector<Digit> row;
  std::vector<Digit> column;
  std::vector<StoredDimension> dimensions;
  bool operator==(const Layout&) const = default;
};

/// That of a matrix whose rows are one after the other.
Layout row_major(const std::string& row, const Affine& rows, const std::string& column, const Affine& columns);

/// Whether rows are stored one after the other, with a leading dimension between them.
bool is_row_major(const Layout& layout);

/// Whether columns are stored one after the other, with a leading dimension between them: row-major, transposed.
bool is_column_major(const Layout& layout);

/// Whether columns that follow each other are one after the other or, at least, in one row of the innermost
/// dimension.
bool has_contiguous_columns(const Layout& layout);

/// Whether the rows of each column are one after the other: transposed, in each of a batch. Of a column in the
/// padding none does.
bool has_contiguous_rows(const Layout& layout);

/// How many columns one step of the first digit of a column stands for.
std::int64_t columns_of_item(const Layout& layout);

/// Whether the dimension runs over the first digit of a column, so that its extent may not be known before a call.
bool is_over_items(const Layout& layout, const StoredDimension& dimension);

}  // namespace esc
