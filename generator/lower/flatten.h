#pragma once

#include <map>
#include <optional>
#include <string>

#include "generator/ir/product_digits.h"

namespace esc {

/// What the product's iterators, of whatever number, are in the matrices of its canonical form: digits of the rows i, of the reduction k and
/// of the columns j, and so what a layout calls them.
///
///   Y[b][f][p][q] += W[f][c][r][s] * X[b][c][p + r][q + s]
///     -> C[i][j] += A[i][k] * B[k][j] with i = f, k = (c, r, s), j = (b, p, q)
class Flattened {
 public:
  /// The nest as assign_roles leaves it.
  explicit Flattened(const LoopNest& nest);

  /// Where the elements of the array that the access reads stand as those of a matrix: rows made of digits of this role, columns of those of the
  /// columns. Nothing where rows stand one behind the other.
  std::optional<Layout> layout_of(const Access& access, Role role) const;
  /// The access to the matrix, vector or number that it is: none, one or both of the indices i and j.
  Access flat(const Access& access) const;

 private:
  /// An iterator of the nest with its canonical name and extent.
  struct Flat {
    Role role;
    Digit digit;
  };

  std::vector<Digit> digits_of_role(Role role) const;

  const LoopNest& nest_;
  std::map<std::string, Flat> flat_;
  std::map<Role, std::vector<std::string>> order_;
};

/// A name of the user's own, which no pass and no instruction has.
std::string own_name(const std::string& name);

}  // namespace esc
