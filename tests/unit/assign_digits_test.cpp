// SPDX-License-Identifier: Apache-2.0
// Products whose rows, reduction or columns have several loops: the roles and layouts that are found, and what is
// refused in which part.

#include <gtest/gtest.h>

#include <algorithm>

#include "generator/ir/build.h"
#include "generator/ir/print.h"
#include "generator/ir/product_digits.h"
#include "generator/ir/rewrite.h"
#include "generator/lower/assign_roles.h"
#include "generator/lower/canonicalize.h"

namespace esc {
namespace {

using Kind = NestPart::Element;

const Affine b = Affine::of("b");
const Affine f = Affine::of("f");
const Affine p = Affine::of("p");
const Affine q = Affine::of("q");
const Affine c = Affine::of("c");
const Affine r = Affine::of("r");
const Affine s = Affine::of("s");

Expression at_least_0(const Affine& index) { return Operation{Operator::at_most, {Affine(0), index}}; }

/// Y[b][f][p][q] += W[f][c][r][s] * X[b][c][2*p + r - 1][q + s], images of 4 channels of 5 x 6 pixels, where nothing
/// else is said.
struct Convolution {
  std::vector<std::pair<std::string, Affine>> loops = {
      {"b", Affine::of("batches")}, {"f", Affine::of("F")}, {"p", 3}, {"q", 5}, {"c", 4}, {"r", 3}, {"s", 2}};
  Access w = element("W", {f, c, r, s});
  Access x = element("X", {b, c, p * 2 + r - 1, q + s});
  Access y = element("Y", {b, f, p, q});
  std::vector<Affine> w_extents = {Affine::of("F"), 4, 3, 2};
  std::vector<Affine> x_extents = {Affine::of("batches"), 4, 5, 6};
  std::vector<Affine> y_extents = {Affine::of("batches"), Affine::of("F"), 3, 5};
  Guard guard = {at_least_0(p * 2 + r - 1), less(p * 2 + r - 1, 5)};
};

Node in_loops(const Convolution& convolution, const Statement& statement, std::size_t loops) {
  Node node{statement};
  for (std::size_t depth = loops; depth-- > 0;) {
    node = sequential_loop(convolution.loops[depth].first, 0, convolution.loops[depth].second, 1, Role::none, {node});
  }
  return node;
}

LoopNest nest_of(const Convolution& given) {
  LoopNest nest;
  nest.arrays = {{"W", given.w_extents, ArrayRole::unknown},
                 {"X", given.x_extents, ArrayRole::unknown},
                 {"Y", given.y_extents, ArrayRole::unknown}};
  nest.body = {in_loops(given, {given.guard, Update{given.y, product({given.w, given.x})}}, given.loops.size())};
  return nest;
}

/// With a statement after the product, in the four loops over the output.
LoopNest followed_by(const Statement& statement, const std::vector<ArrayDeclaration>& operands) {
  LoopNest nest = nest_of({});
  nest.arrays.insert(nest.arrays.end(), operands.begin(), operands.end());
  nest.body.push_back(in_loops({}, statement, 4));
  return nest;
}

void expect_refusal(const LoopNest& nest, const std::string& sentence, const NestPart& part) {
  try {
    assign_roles(nest);
    ADD_FAILURE() << "accepted: " << print(nest) << "expected: " << sentence;
  } catch (const NestError& error) {
    EXPECT_EQ(error.rule(), sentence);
    EXPECT_EQ(error.part(), part) << sentence;
  }
}

const std::vector<std::size_t> innermost = {0, 0, 0, 0, 0, 0, 0, 0};
const NestPart of_w{innermost, Kind::factor, 0};
const NestPart of_x{innermost, Kind::factor, 1};

TEST(AssignDigits, FindsThemInAConvolution) {
  const LoopNest nest = assign_roles(nest_of({}));
  EXPECT_EQ(print(nest), print(nest_of({}))) << "the nest stays the user's";
  const ProductDigits digits = digits_of(nest);
  EXPECT_EQ(digits.rows, (std::vector<Digit>{{"f", Affine::of("F")}}));
  EXPECT_EQ(digits.reductions, (std::vector<Digit>{{"c", 4}, {"r", 3}, {"s", 2}}));
  EXPECT_EQ(digits.columns, (std::vector<Digit>{{"b", Affine::of("batches")}, {"p", 3}, {"q", 5}}));
  EXPECT_EQ(count_of(digits.reductions), 24);
  EXPECT_EQ(count_of(digits.columns), std::nullopt);
  EXPECT_EQ(digits.find("q")->extent, 5);
  EXPECT_EQ(digits.find("t"), nullptr);
}

TEST(AssignDigits, MakeLayoutsOfTheCanonicalForm) {
  const LoopNest canonical = canonicalize(assign_roles(nest_of({})));
  const Affine items = Affine::of("items");
  const std::vector<Digit> columns{{"b_", items}, {"p_", 3}, {"q_", 5}};
  const Affine padded = Affine::of("p_", 2) + Affine::of("r_") - 1;
  EXPECT_EQ(canonical.array(ArrayRole::dense).layout, (Layout{{{"c_", 4}, {"r_", 3}, {"s_", 2}},
                                                              columns,
                                                              {{items, Affine::of("b_")},
                                                               {4, Affine::of("c_")},
                                                               {5, padded, true},
                                                               {6, Affine::of("q_") + Affine::of("s_")}}}));
  EXPECT_EQ(canonical.array(ArrayRole::output).layout, (Layout{{{"i", Affine::of("M")}},
                                                               columns,
                                                               {{items, Affine::of("b_")},
                                                                {Affine::of("M"), Affine::of("i")},
                                                                {3, Affine::of("p_")},
                                                                {5, Affine::of("q_")}}}));
  LoopNest bare = canonical;
  bare.arrays[1].layout.reset();
  bare.arrays[2].layout.reset();
  EXPECT_EQ(bare, canonicalize(spmm_nest()));
  EXPECT_EQ(canonicalize(canonical), canonical);
}

TEST(AssignDigits, LeaveOutGuardsThatCannotFail) {
  Convolution given;
  given.x = element("X", {b, c, p * 2 + r, q + s});
  given.x_extents[2] = 7;
  given.guard = {at_least_0(p * 2 + r), less(p * 2 + r, 7), less(q + s, 6), less(c, 4)};
  const LoopNest canonical = canonicalize(assign_roles(nest_of(given)));
  for (const StoredDimension& dimension : canonical.array(ArrayRole::dense).layout->dimensions) {
    EXPECT_FALSE(dimension.padded);
  }
}

TEST(AssignDigits, TakeGuardsInOtherWords) {
  Convolution given;
  given.guard = {less(-1, p * 2 + r - 1), Operation{Operator::at_most, {r, Affine(5) - p * 2}}};
  EXPECT_TRUE(canonicalize(assign_roles(nest_of(given))).array(ArrayRole::dense).layout->dimensions[2].padded);
}

TEST(AssignDigits, AskForTheGuardsThatIndicesNeed) {
  Convolution given;
  given.guard = {less(p * 2 + r - 1, 5)};
  expect_refusal(nest_of(given),
                 "subscript 2*p + r - 1 of X can be -1: expected the update under if (2*p + r - 1 >= 0)", of_x);
  given.guard = {at_least_0(p * 2 + r - 1)};
  expect_refusal(nest_of(given), "subscript 2*p + r - 1 of X can be 5: expected the update under if (2*p + r - 1 < 5)",
                 of_x);
  given = {};
  given.guard.push_back(less(p, 2));
  expect_refusal(
      nest_of(given),
      "a guard may leave out zeros only, and what lies outside of X: expected W[f][c][r][s] != 0, or a subscript of "
      "X[b][c][2*p + r - 1][q + s] between 0 and the extent of its dimension",
      {innermost, Kind::guard, 2});
}

TEST(AssignDigits, AskForNumbers) {
  Convolution given;
  given.x_extents[2] = Affine::of("H");
  given.guard = {at_least_0(p * 2 + r - 1), less(p * 2 + r - 1, index("H"))};
  expect_refusal(nest_of(given),
                 "subscript 2*p + r - 1 of X goes to H, which is no number here: expected one, as by --size H=NUMBER",
                 of_x);
  given = {};
  given.loops[4].second = given.w_extents[1] = given.x_extents[1] = Affine::of("C");
  expect_refusal(nest_of(given), "loop c runs to C, which is no number here: expected one, as by --size C=NUMBER",
                 {{0, 0, 0, 0, 0}});
}

TEST(AssignDigits, AskForDeclaredExtents) {
  Convolution given;
  given.w_extents[3] = 3;
  expect_refusal(nest_of(given),
                 "W is declared with 3 elements in dimension 4, but loop s runs to 2: expected the same", of_w);
}

TEST(AssignDigits, AskForALoopOverImages) {
  Convolution given;
  given.loops.erase(given.loops.begin());
  given.x = element("X", {c, p * 2 + r - 1, q + s});
  given.y = element("Y", {f, p, q});
  given.x_extents.erase(given.x_extents.begin());
  given.y_extents.erase(given.y_extents.begin());
  expect_refusal(nest_of(given),
                 "subscript 2*p + r - 1 of X is made of p, the first iterator of columns: expected it alone, with a "
                 "loop over images around where there is none, be it over one",
                 {{0, 0, 0, 0, 0, 0, 0}, Kind::factor, 1});
}

TEST(AssignDigits, AskForImagesOutside) {
  Convolution given;
  given.x = element("X", {c, p * 2 + r - 1, b, q + s});
  given.x_extents = {4, 5, Affine::of("batches"), 6};
  expect_refusal(nest_of(given),
                 "X[c][2*p + r - 1][b][q + s] has b as its subscript 3: expected it as the first or second, because "
                 "its extent is known in a call only",
                 of_x);
  given.x = element("X", {p * 2 + r - 1, b, c, q + s});
  given.x_extents = {5, Affine::of("batches"), 4, 6};
  expect_refusal(nest_of(given), "subscript 2*p + r - 1 of X: expected the iterator of one loop, alone, as the first",
                 of_x);
}

TEST(AssignDigits, AskForTheSizesOfGroups) {
  Convolution given;
  given.loops.insert(given.loops.begin() + 1, {"g", 2});
  const Affine g = Affine::of("g");
  given.w = element("W", {g, f, c, r, s});
  given.x = element("X", {b, g, c, p * 2 + r - 1, q + s});
  given.y = element("Y", {b, g, f, p, q});
  for (auto* extents : {&given.w_extents, &given.x_extents, &given.y_extents}) {
    extents->insert(extents->begin() + (extents == &given.w_extents ? 0 : 1), 2);
  }
  expect_refusal(nest_of(given), "loop f runs to F, which is no number here: expected one, as by --size F=NUMBER",
                 {{0, 0, 0}});
}

TEST(AssignDigits, RefuseOtherProducts) {
  Convolution given;
  given.w = element("W", {c, f, r, s});
  given.w_extents = {4, Affine::of("F"), 3, 2};
  expect_refusal(nest_of(given), "W[c][f][r][s] is the sparse matrix transposed: expected W[f][c][r][s], M x K", of_w);
  given = {};
  given.y = element("Y", {b, f, p * 2, q});
  expect_refusal(nest_of(given),
                 "subscript 2*p of Y: expected the iterator of one loop, alone, or several that count through the "
                 "dimension wherever it is used, as in 4*g + f "
                 "where f runs to 4",
                 {innermost, Kind::target});
  given = {};
  given.x = element("X", {b, c, p * -1 + r, q + s});
  given.guard.clear();
  expect_refusal(nest_of(given), "subscript r - p of X: expected a sum of iterators, each times a positive number",
                 of_x);
  given = {};
  given.loops.emplace_back("t", 3);
  expect_refusal(nest_of(given), "the update is in 8 loops: expected three, over rows, reduction and columns",
                 {{0, 0, 0, 0}});
}

/// Y[f] += W[f][c][r] * X[c][r]: a matrix times a vector.
TEST(AssignDigits, RefuseProductsWithoutColumns) {
  Convolution given;
  given.loops = {{"f", Affine::of("F")}, {"c", 4}, {"r", 3}};
  given.w = element("W", {f, c, r});
  given.x = element("X", {c, r});
  given.y = element("Y", {f});
  given.w_extents = {Affine::of("F"), 4, 3};
  given.x_extents = {4, 3};
  given.y_extents = {Affine::of("F")};
  given.guard.clear();
  expect_refusal(nest_of(given), "X[c][r] has no iterator of Y[f]: expected C[i][j] += A[i][k] * B[k][j]",
                 {{0, 0, 0, 0}, Kind::factor, 1});
}

TEST(AssignDigits, GiveOperandsTheirIndices) {
  const Access bias = element("bias", {f});
  const Access of_column = element("column", {b, p, q});
  const Access residual = element("residual", {b, p, q, f});
  const Access y = Convolution().y;
  const LoopNest nest = assign_roles(
      followed_by({{}, Store{y, Expression(y) * Expression(bias) + Expression(of_column) + Expression(residual)}},
                  {{"bias", {Affine::of("F")}, ArrayRole::unknown},
                   {"column", {Affine::of("batches"), 3, 5}, ArrayRole::unknown},
                   {"residual", {Affine::of("batches"), 3, 5, Affine::of("F")}, ArrayRole::unknown}}));
  EXPECT_EQ(nest.epilogue->subscripts, (std::vector<std::string>{"b", "f", "p", "q"}));
  const LoopNest canonical = canonicalize(nest);
  EXPECT_EQ(print(canonical.epilogue->value), "sum_ * bias_[i] + column_[j] + residual_[i][j]");
  EXPECT_EQ(canonical.find_array("column_")->extents, std::vector{Affine::of("N")});
  EXPECT_TRUE(goes_over_columns(canonical, *canonical.find_array("column_")));
  EXPECT_FALSE(canonical.find_array("column_")->layout.has_value());
  EXPECT_EQ(canonical.find_array("residual_")->layout->dimensions.back(),
            (StoredDimension{Affine::of("M"), Affine::of("i")}));
}

TEST(AssignDigits, RefuseOperandsOfAPart) {
  const Access y = Convolution().y;
  const NestPart operand{{1, 0, 0, 0, 0}, Kind::operand, 1};
  expect_refusal(followed_by({{}, Store{y, Expression(y) + Expression(element("bias", {p}))}},
                             {{"bias", {3}, ArrayRole::unknown}}),
                 "bias[p] has a part in what Y becomes: expected a number, bias[b][p][q], bias[f] or bias[b][f][p][q]",
                 operand);
  expect_refusal(followed_by({{}, Store{y, Expression(y) + Expression(element("v", {b, q, p}))}},
                             {{"v", {Affine::of("batches"), 5, 3}, ArrayRole::unknown}}),
                 "v[b][q][p] has other subscripts than rows or columns have, or in another order: expected v[b][p][q]",
                 operand);
  expect_refusal(followed_by({{}, Store{y, Expression(y) + Expression(element("bias", {f}))}},
                             {{"bias", {64}, ArrayRole::unknown}}),
                 "bias is declared with 64 elements in dimension 1, but loop f runs to F: expected the same", operand);
}

/// for (b, f, p, q) { sum = 0; for (c, r, s) sum += ..; Y[b][f][p][q] = sum; }
TEST(AssignDigits, FindASumThatALocalGathers) {
  const Convolution given;
  LoopNest nest = nest_of(given);
  Convolution inner = given;
  inner.loops.erase(inner.loops.begin(), inner.loops.begin() + 4);
  const Node gathering = in_loops(inner, {given.guard, Update{Name{"sum"}, product({given.w, given.x})}}, 3);
  Block body{statement(Define{ScalarType::f32, "sum", 0.0}), gathering, statement(Store{given.y, Name{"sum"}})};
  for (std::size_t depth = 4; depth-- > 0;) {
    body = {sequential_loop(given.loops[depth].first, 0, given.loops[depth].second, 1, Role::none, body)};
  }
  nest.body = body;
  EXPECT_EQ(assign_roles(nest), assign_roles(nest_of(given)));
}

}  // namespace
}  // namespace esc
