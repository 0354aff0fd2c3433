#pragma once

#include <compare>
#include <cstddef>
#include <string>
#include <vector>

#include "generator/ir/loop_nest.h"
#include "generator/support/error.h"

namespace esc {

/// A part of a nest of loops and updates: the nest itself, a loop, an update, or an element that an update names.
struct NestPart {
  enum class Element { none, target, factor, guard };
  std::vector<std::size_t> path = {};  ///< where the node stands in its block, from the outermost; empty: the nest
  Element element = Element::none;     ///< of the update there
  std::size_t number = 0;              ///< of the factor or the guard, in the order in which they are written
  auto operator<=>(const NestPart&) const = default;
};

/// What keeps a nest from being lowered, and in which part of it.
class NestError : public UserError {
 public:
  NestError(NestPart part, const std::string& rule) : UserError("", rule), part_(std::move(part)) {}

  const NestPart& part() const noexcept { return part_; }

 private:
  NestPart part_;
};

/// The product that every refusal of a nest asks for.
inline constexpr const char* expected_product = "C[i][j] += A[i][k] * B[k][j]";

/// Finds what the loops and arrays of a nest are in the sparse-dense product:
///
///   for (c < n) for (d < k) for (r < m) if (W[r][d] != 0) Out[r][c] += In[d][c] * W[r][d];
///     -> c column, d reduction, r row; W sparse, In dense, Out output; Out[r][c] += W[r][d] * In[d][c]
///
/// All of it follows from the subscripts: whatever roles the nest has are not looked at. The arrays come back in the
/// order sparse, dense, output, and the guard once. Throws NestError for nests that are no such product: more or less
/// than one update, other than three loops, arrays that are not three of one type, a transposed matrix, a guard on
/// anything but the sparse factor, one name for two things. Throws Defect for what no input program may become: nodes
/// that are neither loops nor updates, elements that two loops do not index alone, other than two factors. Stands in
/// front of all other steps, so that only it knows what a nest must be to be lowered.
LoopNest assign_roles(const LoopNest& nest);

}  // namespace esc
