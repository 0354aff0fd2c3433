// SPDX-License-Identifier: Apache-2.0
#include "generator/verify/product_case.h"

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <limits>

#include "generator/verify/poison.h"

namespace esc {

std::string print(const ProductCase& product) {
  const std::string shifts = product.shift_b == product.shift_c
                                 ? fmt::format("shift {}", product.shift_b)
                                 : fmt::format("shifts {} and {}", product.shift_b, product.shift_c);
  return fmt::format("n {}, ldb {}, ldc {}, {}", product.n, product.ldb, product.ldc, shifts);
}

std::vector<double> draw_b(std::int64_t rows, const ProductCase& product, const ValueDraw& draw, ScalarType element) {
  std::vector<double> b(static_cast<std::size_t>(rows * product.ldb), std::numeric_limits<double>::quiet_NaN());
  tbb::parallel_for(std::int64_t{0}, rows, [&](std::int64_t row) {
    for (std::int64_t j = 0; j < product.n; ++j) {
      b[static_cast<std::size_t>(row * product.ldb + j)] = drawn_value(draw, j, row, j, memory_type(element));
    }
  });
  return b;
}

std::vector<double> draw_b(const PlacedLayout& layout, std::int64_t rows, const ProductCase& product,
                           const ValueDraw& draw, ScalarType element) {
  if (layout.is_row_major()) {
    return draw_b(rows, product, draw, element);
  }
  std::vector<double> b(static_cast<std::size_t>(rows * product.ldb), std::numeric_limits<double>::quiet_NaN());
  const std::int64_t items = product.n / layout.columns_of_item();
  const std::int64_t leading_dimension = layout.least_leading_dimension(items);
  tbb::parallel_for(std::int64_t{0}, rows, [&](std::int64_t row) {
    for (const PlacedLayout::Run& run : layout.runs(row, 0, product.n, leading_dimension)) {
      for (std::int64_t at = 0; at < run.count; ++at) {
        const std::int64_t place = run.offset + at * run.step;
        const std::int64_t line = place / leading_dimension;
        b[static_cast<std::size_t>(row * product.ldb + run.column + at)] =
            drawn_value(draw, line, line, place % leading_dimension, memory_type(element));
      }
    }
  });
  return b;
}

TypedElements poisoned_c(std::int64_t rows, const ProductCase& product, ScalarType element) {
  TypedElements c(element, static_cast<std::size_t>(rows * product.ldc));
  with_element(element,
               [&c](auto zero) { std::fill_n(c.elements<decltype(zero)>(), c.size(), poison<decltype(zero)>()); });
  return c;
}

}  // namespace esc
