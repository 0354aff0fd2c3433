// SPDX-License-Identifier: Apache-2.0
// The rows that kernels are judged by are those of the interpreted nest, bit by bit, however it is written.

#include "generator/verify/nest_product.h"

#include <gtest/gtest.h>

#include "generator/frontend/parse_loop_nest.h"
#include "generator/ir/build.h"
#include "generator/ir/interpret.h"
#include "generator/matrix/drawn_value.h"
#include "generator/matrix/sample.h"
#include "generator/verify/product_case.h"
#include "tests/unit/accepted_nests.h"

namespace esc {
namespace {

/// What the nest is interpreted on: A dense, B without its gaps, C zero.
Memory memory_of(const LoopNest& nest, const SparseMatrix& a, const std::vector<double>& b,
                 const ProductCase& product) {
  Memory memory;
  const auto add = [&](ArrayRole role, std::int64_t rows, std::int64_t columns) -> std::vector<double>& {
    const ArrayDeclaration& array = nest.array(role);
    for (const auto& [extent, size] : {std::pair(array.extents[0], rows), std::pair(array.extents[1], columns)}) {
      for (const Affine::Term& term : extent.terms()) {
        memory.sizes[term.name] = size;
      }
    }
    Tensor& tensor = memory.arrays[array.name];
    tensor = {{rows, columns}, std::vector<double>(static_cast<std::size_t>(rows * columns), 0.0)};
    return tensor.elements;
  };
  std::vector<double>& dense = add(ArrayRole::sparse, a.rows, a.columns);
  for (std::int64_t row = 0; row < a.rows; ++row) {
    for (auto at = static_cast<std::size_t>(a.offsets[static_cast<std::size_t>(row)]);
         at < static_cast<std::size_t>(a.offsets[static_cast<std::size_t>(row) + 1]); ++at) {
      dense[static_cast<std::size_t>(row * a.columns + a.column_of[at])] = a.values[at];
    }
  }
  std::vector<double>& elements = add(ArrayRole::dense, a.columns, product.n);
  for (std::int64_t k = 0; k < a.columns; ++k) {
    for (std::int64_t j = 0; j < product.n; ++j) {
      elements[static_cast<std::size_t>(k * product.n + j)] = b[static_cast<std::size_t>(k * product.ldb + j)];
    }
  }
  add(ArrayRole::output, a.rows, product.n);
  return memory;
}

class NestProductOf : public testing::TestWithParam<Variant> {};

TEST_P(NestProductOf, HasTheRowsThatTheInterpreterLeaves) {
  const LoopNest nest = parse_loop_nest(GetParam().source, GetParam().file);
  const auto size = [&](int index, std::int64_t otherwise) {
    const int constant = GetParam().extents[static_cast<std::size_t>(index)];
    return constant != 0 ? constant : otherwise;
  };
  SparseMatrix a = sample_matrix({.rows = size(0, 7), .columns = size(1, 11), .sparsity = 0.6, .seed = 5});
  const auto n = static_cast<std::int32_t>(size(2, 5));
  const ProductCase product{n, n + 2, n};
  const std::vector<double> b = draw_b(a.columns, product, 3, nest.element());
  const std::vector<double> c =
      interpret(nest, memory_of(nest, a, b, product)).arrays.at(nest.array(ArrayRole::output).name).elements;
  const NestProduct nest_product(nest, a);
  for (std::int64_t row = 0; row < a.rows; ++row) {
    const RowOfC found = nest_product.row(row, {b, product.ldb, n});
    ASSERT_EQ(found.values.size(), static_cast<std::size_t>(n));
    for (std::size_t j = 0; j < found.values.size(); ++j) {
      EXPECT_EQ(found.values[j], c[static_cast<std::size_t>(row * n) + j]) << GetParam().source << row << ' ' << j;
      EXPECT_GE(found.magnitudes[j], std::abs(found.values[j]));
    }
    const std::vector<std::int64_t> columns{n / 2, n - 1};
    const RowOfC wanted = nest_product.row(row, {b, product.ldb, n, columns});
    ASSERT_EQ(wanted.values.size(), columns.size());
    for (std::size_t place = 0; place < columns.size(); ++place) {
      const auto column = static_cast<std::size_t>(columns[place]);
      EXPECT_EQ(wanted.values[place], found.values[column]) << GetParam().source << row << ' ' << column;
      EXPECT_EQ(wanted.magnitudes[place], found.magnitudes[column]);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Variants, NestProductOf, testing::ValuesIn(accepted_nests()),
                         [](const auto& tested) { return std::string(tested.param.name); });

/// A nest that the front end does not take yet: its value does not vanish with the sparse element, so that every column
/// counts, and a guard asks the column of C.
TEST(NestProduct, RunsOtherStatementsThanTheProduct) {
  LoopNest nest = spmm_nest();
  Loop* loop = &std::get<Loop>(nest.body.front().content);
  while (std::holds_alternative<Loop>(loop->body.front().content)) {
    loop = &std::get<Loop>(loop->body.front().content);
  }
  auto& statement = std::get<Statement>(loop->body.front().content);
  auto& update = std::get<Update>(statement.action);
  update.value = update.value + Expression(2.0);
  statement.guard = {less(index("j"), 2)};
  const SparseMatrix a{2, 3, {0, 1, 2}, {1, 2}, {4, 5}};
  const ProductCase product{3, 3, 3};
  const std::vector<double> b = draw_b(3, product, 1);
  const std::vector<double> c = interpret(nest, memory_of(nest, a, b, product)).arrays.at("C").elements;
  for (std::int64_t row = 0; row < 2; ++row) {
    const RowOfC found = NestProduct(nest, a).row(row, {b, 3, 3});
    EXPECT_EQ(found.values, std::vector<double>(c.begin() + 3 * row, c.begin() + 3 * row + 3));
    EXPECT_EQ(found.values[2], 0);
    EXPECT_NE(found.values[0], 0);
  }
}

/// Y[b][i] += W[i][c][r] * X[b][c][r] with the loop over r around that over c: a sum that rounding makes another one in
/// the order of W.
TEST(NestProduct, AddsInTheOrderOfTheLoops) {
  const Affine b = Affine::of("b");
  const Affine c = Affine::of("c");
  const Affine r = Affine::of("r");
  const Access w = element("W", {Affine::of("i"), c, r});
  LoopNest nest;
  nest.arrays = {{"W", {Affine::of("M"), 2, 2}, ArrayRole::sparse},
                 {"X", {Affine::of("N"), 2, 2}, ArrayRole::dense},
                 {"Y", {Affine::of("N"), Affine::of("M")}, ArrayRole::output}};
  Node node{
      Statement{{is_nonzero(w)}, Update{element("Y", {b, Affine::of("i")}), product({w, element("X", {b, c, r})})}}};
  for (const auto& [iterator, extent, role] :
       {std::tuple("c", Affine(2), Role::reduction), std::tuple("r", Affine(2), Role::reduction),
        std::tuple("i", Affine::of("M"), Role::row), std::tuple("b", Affine::of("N"), Role::column)}) {
    node = sequential_loop(iterator, 0, extent, 1, role, {std::move(node)});
  }
  nest.body = {std::move(node)};
  const SparseMatrix a{1, 4, {0, 4}, {0, 1, 2, 3}, {1e17, 1, -1e17, 1}};
  const RowOfC found = NestProduct(nest, a).row(0, {std::vector<double>{1, 1, 1, 1}, 1, 1});
  EXPECT_EQ(found.values.front(), 2) << "in the order of W it is 1e17 + 1 - 1e17 + 1, which is 1";
}

}  // namespace
}  // namespace esc
