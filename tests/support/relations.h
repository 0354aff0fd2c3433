// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "generator/matrix/typed_elements.h"
#include "tests/support/drawn_case.h"

namespace esc::tests {

/// A product that a kernel is asked for.
struct Multiplication {
  SparseMatrix a;
  ProductCase product;
  std::vector<double> b;  ///< K rows of the product's columns, without gaps
  std::uint64_t order =
      0;  ///< in which blocks and threads run; the same where nothing else says in which sums are added up
};

/// Makes a kernel for the matrix by one schedule and runs it: M rows of the product's columns, without gaps.
using Multiply = std::function<TypedElements(const Multiplication&)>;

/// What must hold between products of a kernel, whatever its schedule.
struct Relation {
  std::string name;
  bool changes_the_pattern = false;  ///< so that it needs a further kernel
  /// The first element of C at which it does not hold for the case, or empty.
  std::function<std::string(const DrawnCase&, const Schedule&, const Multiply&)> violation;
};

/// Equal means equal bit by bit where OrderOfSums says that the sums are added up in the same order, and else as near
/// as rounding in any order brings them:
///
/// - rows of A permuted: those of C are; equal
/// - columns of A and rows of B permuted: C within rounding
/// - A times two: C times two, bit by bit
/// - B of unit vectors: columns of A, bit by bit
/// - rows of zeros after A: the other rows of C stay equal, those are zero
/// - the columns of B in two calls: C is equal
const std::vector<Relation>& relations();

/// The first element of C at which kernels of several families differ from each other, or from the sums in double, by
/// more than rounding explains; or empty.
std::string disagreement(const DrawnCase& drawn, const std::vector<Multiply>& families);

}  // namespace esc::tests
