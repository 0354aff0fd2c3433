// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "generator/lower/nested_statement.h"

namespace esc {

/// What the sums that one update of a nest gathers become.
struct FoundEpilogue {
  Access output;                           ///< the element that has the sum in the end, in the update's own iterators
  NestPart output_part;                    ///< where the function names it
  std::optional<Epilogue> epilogue;        ///< nothing where the output is the sum itself
  std::vector<ArrayDeclaration> operands;  ///< what the epilogue reads, in its order
  std::vector<std::pair<Access, NestPart>>
      accesses;  ///< of operands, in the update's own iterators, each where it is read first
};

/// Finds what happens to the sums of the update at statements[update], which is in three loops or more, in the
/// statements around it:
///
///   for (i) for (j) { float sum = 0; for (k) sum += A[i][k] * B[k][j]; float x = sum + bias[i]; C[i][j] = x > 0 ? x :
///   0; }
///     -> C[i][j] += A[i][k] * B[k][j]; epilogue of C: x = sum + bias[i]; C[i][j] = 0 < x ? x : 0
///
/// The statements are run through in their order, with expressions for values. So the sum may be gathered in C or in a
/// local, C be changed any number of times and in loops of its own, and locals be set again: each time is another step.
/// What the output or the local is set to before the sum is added to it is added in the epilogue instead: in exact
/// arithmetic the sums are the same. The output counts as 0 before the function first sets it. Throws NestError for
/// statements that change other arrays, are under a guard or not in loops over all rows and columns, read the output
/// other than as the element that they change, or other arrays than as a number, [i], [j] or [i][j], where i and j
/// stand for all iterators that one of the factors shares with the output. Is before assign_roles' own rules,
/// which ask about the product alone.
FoundEpilogue find_epilogue(const LoopNest& nest, const std::vector<NestedStatement>& statements, std::size_t update);

}  // namespace esc
