// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "generator/ir/placed_layout.h"
#include "generator/matrix/typed_elements.h"
#include "generator/verify/value_draw.h"

namespace esc {

/// One product C = A x B that a kernel is asked for: n columns, with the leading dimensions of B and C in elements, and
/// how many elements after an aligned address each begins.
struct ProductCase {
  std::int32_t n = 1;
  std::int64_t ldb = 1;
  std::int64_t ldc = 1;
  int shift_b = 0;
  int shift_c = 0;
  bool operator==(const ProductCase&) const = default;
};

/// "n 64, ldb 67, ldc 69, shift 1"; "shifts 1 and 2" where B and C differ.
std::string print(const ProductCase& product);

/// B: K rows of ldb elements, each exactly a value that the type has in memory. The n columns are drawn, each a line of
/// its own; what lies between them and the next row is NaN, so that a kernel that reads it shows.
std::vector<double> draw_b(std::int64_t rows, const ProductCase& product, const ValueDraw& draw,
                           ScalarType element = ScalarType::f32);

/// The same where several columns may read one element of B: each has the value that its place has, whose line is the
/// index of the outermost dimension. Those of the padding are NaN.
std::vector<double> draw_b(const PlacedLayout& layout, std::int64_t rows, const ProductCase& product,
                           const ValueDraw& draw, ScalarType element = ScalarType::f32);

/// C before the kernel runs: `rows` rows of ldc elements, all poison, a NaN that no arithmetic produces.
TypedElements poisoned_c(std::int64_t rows, const ProductCase& product, ScalarType element = ScalarType::f32);

}  // namespace esc
