// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "generator/frontend/given_sizes.h"

namespace esc {

/// A product over arrays of any dimensions, with what the front end makes of it: the loops with their statement, and
/// the arrays with their extents.
struct AnyNest {
  const char* name;
  std::string source;
  std::string printed;
  std::string arrays;
  GivenSizes sizes = {};
};

inline void PrintTo(const AnyNest& nest, std::ostream* out) { *out << nest.name; }

/// Nests that are no plain C[i][j] += A[i][k] * B[k][j].
std::vector<AnyNest> any_nests();

}  // namespace esc
