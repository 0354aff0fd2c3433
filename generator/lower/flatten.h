// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "generator/ir/product_digits.h"

namespace esc {

/// What the product's iterators, of whatever number, are in the matrices of its canonical form: digits of the rows i,
/// of the reduction k and of the columns j, and so what a layout calls them.
///
///   Y[b][f][p][q] += W[f][c][r][s] * X[b][c][p + r][q + s]
///     -> C[i][j] += A[i][k] * B[k][j] with i = f, k = (c, r, s), j = (b, p, q)
///   Y[b][g][f][p] += W[g][f][c][r] * X[b][g][c][p + r]
///     -> the same with i = (g, f), k = (g, c, r), j = (b, p), for a block-diagonal A (matrix/block_diagonal)
class Flattened {
 public:
  /// The nest as assign_roles leaves it.
  explicit Flattened(const LoopNest& nest);

  /// Where the elements of the array that the access reads are as those of a matrix: rows made of digits of this
  /// role, columns of those of the columns. Dimensions and digits of rows that only go on counting where those in front
  /// stop are one. Nothing where rows are one after the other.
  std::optional<Layout> layout_of(const Access& access, Role role) const;
  /// The access to the matrix, vector or number that it is: none, one or both of the indices i and j.
  Access flat(const Access& access) const;

 private:
  /// An iterator of the nest with its canonical name and extent.
  struct Flat {
    std::string iterator;
    Digit digit;
  };

  /// The digit that the iterator is in a matrix with rows of this role.
  const Digit& digit_of(const std::string& iterator, Role role) const;
  std::vector<Digit> digits_of_role(Role role) const;

  const LoopNest& nest_;
  std::map<Role, std::vector<Flat>> flat_;  ///< of a group there are two
};

/// A name of the user's own, which no pass and no instruction has.
std::string own_name(const std::string& name);

}  // namespace esc
