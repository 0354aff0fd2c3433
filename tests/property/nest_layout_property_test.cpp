// SPDX-License-Identifier: Apache-2.0
// Products of arrays of any dimensions: the nest as written, its canonical form whose matrices have layouts, and what
// kernels are judged by compute the same.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "generator/ir/interpret.h"
#include "generator/ir/placed_layout.h"
#include "generator/ir/print.h"
#include "generator/ir/product_digits.h"
#include "generator/lower/assign_roles.h"
#include "generator/lower/canonicalize.h"
#include "generator/lower/split_dimensions.h"
#include "generator/matrix/block_diagonal.h"
#include "generator/matrix/drawn_value.h"
#include "generator/verify/layout_check.h"
#include "generator/verify/nest_product.h"
#include "tests/support/drawn_nest.h"
#include "tests/support/random_case.h"

namespace esc {
namespace {

using tests::drawn_nest;
using tests::DrawnNest;

/// What the case is run on: sizes by the nest's own names.
Environment sizes_of(const DrawnNest& drawn) {
  return {{"M", drawn.rows}, {"F", drawn.rows}, {"K", drawn.stored}, {"T", drawn.items}, {"batches", drawn.items}};
}

/// W as it is stored.
SparseMatrix draw_matrix(const DrawnNest& drawn) {
  SparseMatrix matrix{drawn.rows, drawn.stored, {0}, {}, {}};
  for (std::int64_t row = 0; row < drawn.rows; ++row) {
    for (std::int64_t column = 0; column < drawn.stored; ++column) {
      if (mix_bits(static_cast<std::uint64_t>(row * drawn.stored + column)) % 3 != 0) {
        matrix.column_of.push_back(static_cast<std::int32_t>(column));
        matrix.values.push_back(drawn_value(3, row, column));
      }
    }
    matrix.offsets.push_back(matrix.nonzeros());
  }
  return matrix;
}

std::vector<double> elements_of(const SparseMatrix& matrix) {
  std::vector<double> elements(static_cast<std::size_t>(matrix.rows * matrix.columns), 0.0);
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    for (auto at = static_cast<std::size_t>(matrix.offsets[static_cast<std::size_t>(row)]);
         at < static_cast<std::size_t>(matrix.offsets[static_cast<std::size_t>(row) + 1]); ++at) {
      elements[static_cast<std::size_t>(row * matrix.columns + matrix.column_of[at])] = matrix.values[at];
    }
  }
  return elements;
}

Memory memory_of(const LoopNest& nest, const SparseMatrix& matrix, const Environment& sizes) {
  Memory memory{sizes, {}};
  std::uint64_t seed = 7;
  for (const ArrayDeclaration& array : nest.arrays) {
    Tensor& tensor = memory.arrays[array.name];
    std::int64_t count = 1;
    for (const Affine& extent : array.extents) {
      tensor.extents.push_back(extent.evaluate(sizes));
      count *= tensor.extents.back();
    }
    ++seed;
    for (std::int64_t at = 0; at < count; ++at) {
      tensor.elements.push_back(array.role == ArrayRole::output ? 0 : drawn_value(seed, 0, at));
    }
    if (array.role == ArrayRole::sparse) {
      tensor.elements = elements_of(matrix);
    }
  }
  return memory;
}

/// A matrix of the canonical form, from the array that has its elements: zero where it has none.
Tensor gathered(const ArrayDeclaration& matrix, const Tensor& array, const Environment& sizes, std::int64_t rows,
                std::int64_t columns, std::int64_t items) {
  Tensor result{{rows, columns}, {}};
  if (!matrix.layout) {
    result.elements = array.elements;
    return result;
  }
  const PlacedLayout placed(*matrix.layout, sizes);
  const std::int64_t leading_dimension = placed.least_leading_dimension(items);
  RC_ASSERT(placed.outermost_extent(rows, items) * leading_dimension ==
            static_cast<std::int64_t>(array.elements.size()));
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < columns; ++column) {
      const std::optional<std::int64_t> offset = placed.offset(row, column, leading_dimension);
      result.elements.push_back(offset ? array.elements.at(static_cast<std::size_t>(*offset)) : 0.0);
    }
  }
  return result;
}

/// Sums of at most 27 products of numbers below 1, in another order.
constexpr double allowed = 1e-12;

RC_GTEST_PROP(NestLayout, EveryFormComputesWhatTheNestComputes, ()) {
  const DrawnNest drawn = *drawn_nest();
  const LoopNest nest = assign_roles(drawn.nest);
  RC_ASSERT(assign_roles(drawn.nest).array(ArrayRole::sparse).name == "W");
  const SparseMatrix stored = draw_matrix(drawn);
  const SparseMatrix matrix = block_diagonal(stored, digits_of(nest));
  const Memory memory = memory_of(nest, stored, sizes_of(drawn));
  const Tensor y = interpret(nest, memory).arrays.at("Y");

  const LoopNest canonical = canonicalize(nest);
  const std::int64_t n = drawn.items * drawn.item_columns;
  const Environment sizes{{"M", drawn.rows}, {"K", drawn.reduction()}, {"N", n}};
  Memory flat{sizes, {}};
  for (std::size_t at = 0; at < canonical.arrays.size(); ++at) {
    const ArrayDeclaration& array = canonical.arrays[at];
    const Tensor& given = memory.arrays.at(nest.arrays.at(at).name);
    flat.arrays[array.name] = array.extents.size() < 2 ? given
                                                       : gathered(array, given, sizes, array.extents[0].evaluate(sizes),
                                                                  array.extents[1].evaluate(sizes), drawn.items);
    if (array.extents.size() < 2) {
      flat.arrays[array.name].extents.clear();
      for (const Affine& extent : array.extents) {
        flat.arrays[array.name].extents.push_back(extent.evaluate(sizes));
      }
    }
  }
  flat.arrays["A"] = {{drawn.rows, drawn.reduction()}, elements_of(matrix)};
  const std::vector<double> c = interpret(canonical, flat).arrays.at("C").elements;
  const std::vector<double> expected =
      gathered(canonical.array(ArrayRole::output), y, sizes, drawn.rows, n, drawn.items).elements;
  RC_ASSERT(c.size() == y.elements.size());
  for (std::size_t at = 0; at < c.size(); ++at) {
    RC_ASSERT(std::abs(c[at] - expected[at]) < allowed);
  }

  LoopNest product = nest;
  product.epilogue.reset();
  const std::vector<double> sums =
      gathered(canonical.array(ArrayRole::output), interpret(product, memory).arrays.at("Y"), sizes, drawn.rows, n,
               drawn.items)
          .elements;
  std::vector<double> b = flat.arrays.at("B").elements;
  const NestProduct nest_product(nest, matrix);
  for (std::int64_t row = 0; row < drawn.rows; ++row) {
    const RowOfC found = nest_product.row(row, {b, n, n});
    for (std::int64_t column = 0; column < n; ++column) {
      // The same statements in the same order.
      RC_ASSERT(found.values[static_cast<std::size_t>(column)] == sums[static_cast<std::size_t>(row * n + column)]);
    }
  }
}

/// A dimension that several iterators count through is several dimensions, in the same memory.
RC_GTEST_PROP(NestLayout, ADimensionThatIsSplitStaysWhereItIs, ()) {
  const DrawnNest drawn = *drawn_nest();
  const LoopNest& nest = drawn.nest;
  const std::vector<double> weights = elements_of(draw_matrix(drawn));
  const auto y_of = [&](const LoopNest& form) {
    Memory memory = memory_of(form, {}, sizes_of(drawn));
    memory.arrays.at("W").elements = weights;
    std::ranges::fill(memory.arrays.at("Y").elements, 0.0);
    return interpret(form, memory).arrays.at("Y").elements;
  };
  RC_ASSERT(y_of(split_dimensions(nest)) == y_of(nest));
}

/// Nor do layouts and subscripts differ anywhere that is looked at.
RC_GTEST_PROP(NestLayout, LayoutsSayWhatSubscriptsSay, ()) {
  const DrawnNest drawn = *drawn_nest();
  const LoopNest nest = assign_roles(drawn.nest);
  RC_ASSERT(find_layout_fault(nest, drawn.rows, drawn.reduction(), drawn.items * drawn.item_columns).empty());
}

/// Elements of the padding are nobody's: a product that looked at them would be NaN.
RC_GTEST_PROP(NestLayout, NoStatementLooksAtThePadding, ()) {
  const DrawnNest drawn = *drawn_nest();
  const LoopNest nest = assign_roles(drawn.nest);
  const SparseMatrix matrix = block_diagonal(draw_matrix(drawn), digits_of(nest));
  const LoopNest canonical = canonicalize(nest);
  const std::int64_t n = drawn.items * drawn.item_columns;
  const Environment sizes{{"M", drawn.rows}, {"K", drawn.reduction()}, {"N", n}};
  std::vector<double> b(static_cast<std::size_t>(drawn.reduction() * n), 1.0);
  if (const std::optional<Layout>& layout = canonical.array(ArrayRole::dense).layout) {
    const PlacedLayout placed(*layout, sizes);
    for (std::int64_t k = 0; k < drawn.reduction(); ++k) {
      for (std::int64_t j = 0; j < n; ++j) {
        b[static_cast<std::size_t>(k * n + j)] =
            placed.offset(k, j, placed.least_leading_dimension(drawn.items)) ? 1.0 : std::nan("");
      }
    }
  }
  for (std::int64_t row = 0; row < drawn.rows; ++row) {
    for (const double sum : NestProduct(nest, matrix).row(row, {b, n, n}).values) {
      RC_ASSERT(std::isfinite(sum));
    }
  }
}

}  // namespace
}  // namespace esc
