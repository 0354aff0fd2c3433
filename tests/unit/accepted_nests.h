// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <ostream>
#include <string>
#include <vector>

#include "generator/ir/loop_nest.h"

namespace esc {

/// A text of the product, and how the nest that it means differs from Listing 1 once its names are replaced.
struct Variant {
  const char* name;
  const char* file;
  std::string source;
  const char* order = "ikj";
  bool guarded = true;
  ScalarType element = ScalarType::f32;
  /// Constant extents M, K, N; 0: a size.
  std::array<int, 3> extents = {0, 0, 0};
};

inline void PrintTo(const Variant& variant, std::ostream* out) { *out << variant.name; }

/// Every form of the product that is accepted.
std::vector<Variant> accepted_nests();

}  // namespace esc
