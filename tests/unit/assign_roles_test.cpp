// SPDX-License-Identifier: Apache-2.0
// What a nest must be to be lowered, on nests built by hand: the roles that are found, and what is refused in which
// part.

#include "generator/lower/assign_roles.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "generator/ir/build.h"
#include "generator/ir/print.h"
#include "generator/ir/rewrite.h"
#include "generator/lower/canonicalize.h"

namespace esc {
namespace {

using Kind = NestPart::Element;

ArrayDeclaration matrix(const std::string& name, const Affine& rows, const Affine& columns) {
  return {name, {rows, columns}, ArrayRole::unknown};
}

Access at(const std::string& array, const std::string& row, const std::string& column) {
  return element(array, {Affine::of(row), Affine::of(column)});
}

/// The update in loops over the named iterators, outermost first; each runs to its own size: x to size_x.
Node in_loops(const std::string& iterators, const Statement& update) {
  Node node{update};
  std::for_each(iterators.rbegin(), iterators.rend(), [&](char iterator) {
    node = sequential_loop({iterator}, 0, Affine::of(std::string("size_") + iterator), 1, Role::none, {node});
  });
  return node;
}

/// Y[r][c] += W[r][d] * X[d][c] in the loops r, d, c, where nothing else is said.
struct Parts {
  std::string iterators = "rdc";
  Access target = at("Y", "r", "c");
  std::vector<Access> factors = {at("W", "r", "d"), at("X", "d", "c")};
  std::vector<Access> guards = {};
};

Statement update_of(const Parts& parts) {
  Statement update{{}, Update{parts.target, product({parts.factors.begin(), parts.factors.end()})}};
  for (const Access& guard : parts.guards) {
    update.guard.push_back(is_nonzero(guard));
  }
  return update;
}

LoopNest nest_of(const Parts& parts) {
  LoopNest nest;
  nest.arrays = {matrix("Y", Affine::of("size_r"), Affine::of("size_c")),
                 matrix("X", Affine::of("size_d"), Affine::of("size_c")),
                 matrix("W", Affine::of("size_r"), Affine::of("size_d")),
                 matrix("mask", Affine::of("size_r"), Affine::of("size_d"))};
  nest.body = {in_loops(parts.iterators, update_of(parts))};
  return nest;
}

TEST(AssignRoles, Finds_them_in_every_order_of_loops_and_factors) {
  const std::vector<Access> in_order = {at("W", "r", "d"), at("X", "d", "c")};
  std::string iterators = "cdr";
  do {
    for (const std::vector<Access>& factors : {in_order, {in_order[1], in_order[0]}}) {
      for (const std::vector<Access>& guards : {std::vector<Access>{}, {in_order[0]}, {in_order[0], in_order[0]}}) {
        LoopNest expected = nest_of({iterators, at("Y", "r", "c"), in_order, {}});
        for (const auto& [iterator, role] :
             {std::pair("r", Role::row), std::pair("d", Role::reduction), std::pair("c", Role::column)}) {
          expected.body = replace_loop(expected.body, iterator, [&](Loop loop) {
            loop.role = role;
            return Block{Node{loop}};
          });
        }
        expected.body = change_updates(expected.body, [&](Guard& guard, Update&) {
          guard = guards.empty() ? Guard{} : Guard{is_nonzero(in_order[0])};
        });
        expected.arrays = {expected.arrays[2], expected.arrays[1], expected.arrays[0]};
        expected.arrays[0].role = ArrayRole::sparse;
        expected.arrays[1].role = ArrayRole::dense;
        expected.arrays[2].role = ArrayRole::output;

        const LoopNest found = assign_roles(nest_of({iterators, at("Y", "r", "c"), factors, guards}));
        EXPECT_EQ(found, expected) << print_iteration_space(found) << print_iteration_space(expected);
        EXPECT_EQ(assign_roles(found), found);
      }
    }
  } while (std::next_permutation(iterators.begin(), iterators.end()));
}

/// Expects the nest to be refused in these words, for this part.
void expect_refusal(const LoopNest& nest, const std::string& sentence, const NestPart& part) {
  try {
    assign_roles(nest);
    ADD_FAILURE() << "accepted: " << print(nest);
  } catch (const NestError& error) {
    EXPECT_EQ(error.rule(), sentence);
    EXPECT_EQ(error.part(), part) << sentence;
  }
}

const std::vector<std::size_t> in_three_loops = {0, 0, 0, 0};

TEST(AssignRoles, Asks_for_one_update) {
  LoopNest nest = nest_of({});
  nest.body.push_back(in_loops("rd", update_of({})));
  expect_refusal(nest, "a second update: expected one, C[i][j] += A[i][k] * B[k][j]", {{1, 0, 0}});
  nest.body.clear();
  expect_refusal(nest, "nothing is added to an output in this function: expected C[i][j] += A[i][k] * B[k][j]", {});
}

TEST(AssignRoles, Asks_for_three_loops) {
  const std::string expected = ": expected three, over rows, reduction and columns";
  expect_refusal(nest_of({""}), "the update is in 0 loops" + expected, {{0}});
  expect_refusal(nest_of({"r"}), "the update is in 1 loop" + expected, {{0}});
  expect_refusal(nest_of({"rc"}), "the update is in 2 loops" + expected, {{0}});
  expect_refusal(nest_of({"trdc"}), "the update is in 4 loops" + expected, {{0, 0, 0, 0}});
}

TEST(AssignRoles, Asks_for_three_arrays_of_one_type) {
  expect_refusal(nest_of({"rdc", at("X", "r", "c")}),
                 "X is read as a factor and also added to: expected three different arrays",
                 {in_three_loops, Kind::factor, 1});
  expect_refusal(nest_of({"rdc", at("Y", "r", "c"), {at("W", "r", "d"), at("W", "d", "c")}}),
                 "W is both factors: expected three different arrays", {in_three_loops, Kind::factor, 1});
  LoopNest nest = nest_of({});
  nest.arrays[2].type = ScalarType::f64;
  expect_refusal(nest, "W holds double, Y holds float: expected the same type in all three arrays",
                 {in_three_loops, Kind::factor, 0});
}

TEST(AssignRoles, Asks_for_rows_a_reduction_and_columns) {
  expect_refusal(nest_of({"rdc", at("Y", "r", "c"), {at("X", "d", "c"), at("W", "r", "c")}}),
                 "W[r][c] is not indexed by d, the iterator that Y[r][c] does not have: expected "
                 "C[i][j] += A[i][k] * B[k][j]",
                 {in_three_loops, Kind::factor, 1});
  expect_refusal(nest_of({"rdc", at("Y", "r", "c"), {at("X", "d", "c"), at("W", "d", "c")}}),
                 "no factor is indexed by iterator r of Y[r][c]: expected C[i][j] += A[i][k] * B[k][j]",
                 {in_three_loops, Kind::factor, 1});
  expect_refusal(nest_of({"rdc", at("Y", "r", "c"), {at("W", "r", "d"), at("X", "r", "d")}}),
                 "no factor is indexed by iterator c of Y[r][c]: expected C[i][j] += A[i][k] * B[k][j]",
                 {in_three_loops, Kind::factor, 1});
}

TEST(AssignRoles, Asks_for_matrices_as_they_stand) {
  expect_refusal(nest_of({"rdc", at("Y", "r", "c"), {at("X", "d", "c"), at("W", "d", "r")}}),
                 "W[d][r] is the sparse matrix transposed: expected W[r][d], M x K", {in_three_loops, Kind::factor, 1});
}

Affine size(const std::string& iterator) { return Affine::of("size_" + iterator); }

/// X[c][d], as PyTorch has a linear layer's input, and Y[c][r], as it has its output; either may be alone.
TEST(AssignRoles, Takes_dense_matrices_transposed) {
  for (const bool dense : {false, true}) {
    for (const bool output : {false, true}) {
      LoopNest nest = nest_of({"rdc",
                               output ? at("Y", "c", "r") : at("Y", "r", "c"),
                               {at("W", "r", "d"), dense ? at("X", "c", "d") : at("X", "d", "c")},
                               {at("W", "r", "d")}});
      nest.arrays[0] = output ? matrix("Y", size("c"), size("r")) : nest.arrays[0];
      nest.arrays[1] = dense ? matrix("X", size("c"), size("d")) : nest.arrays[1];
      const LoopNest found = assign_roles(nest);
      EXPECT_EQ(found.array(ArrayRole::sparse).name, "W");
      EXPECT_EQ(find_loop(found.body, Role::row)->iterator, "r");
      EXPECT_EQ(find_loop(found.body, Role::column)->iterator, "c");
      const LoopNest canonical = canonicalize(found);
      const auto transposed = [](const std::string& row, const Affine& rows) {
        const Affine n = Affine::of("N");
        return Layout{{{row, rows}}, {{"j", n}}, {{n, Affine::of("j")}, {rows, Affine::of(row)}}};
      };
      EXPECT_EQ(canonical.array(ArrayRole::dense).layout,
                dense ? std::optional(transposed("k", Affine::of("K"))) : std::nullopt);
      EXPECT_EQ(canonical.array(ArrayRole::output).layout,
                output ? std::optional(transposed("i", Affine::of("M"))) : std::nullopt);
      LoopNest bare = canonical;
      bare.arrays[1].layout.reset();
      bare.arrays[2].layout.reset();
      EXPECT_EQ(bare, canonicalize(spmm_nest()));
    }
  }
}

/// Y[t][i] += W[i][k] * X[t][k]: either factor may be the sparse one.
TEST(AssignRoles, Asks_a_guard_or_the_order_which_factor_is_sparse) {
  const Access w = at("W", "r", "d");
  const Access x = at("X", "c", "d");
  for (const auto& [factors, guards, sparse] :
       {std::tuple(std::vector{w, x}, std::vector<Access>{}, "W"),
        std::tuple(std::vector{x, w}, std::vector<Access>{}, "X"), std::tuple(std::vector{x, w}, std::vector{w}, "W"),
        std::tuple(std::vector{w, x}, std::vector{x}, "X")}) {
    LoopNest nest = nest_of({"rdc", at("Y", "c", "r"), factors, guards});
    nest.arrays[0] = matrix("Y", size("c"), size("r"));
    nest.arrays[1] = matrix("X", size("c"), size("d"));
    EXPECT_EQ(assign_roles(nest).array(ArrayRole::sparse).name, sparse);
  }
}

TEST(AssignRoles, Asks_for_iterators_alone) {
  expect_refusal(nest_of({"rdc", at("Y", "r", "r")}), "both subscripts of Y are r: expected two different iterators",
                 {in_three_loops, Kind::target});
  expect_refusal(nest_of({"rdc", at("Y", "r", "size_c")}),
                 "subscript size_c of Y: expected the iterator of one loop, alone, or several that count through the "
                 "dimension wherever it is used, "
                 "as in 4*g + f where f runs to 4",
                 {in_three_loops, Kind::target});
}

TEST(AssignRoles, Asks_for_guards_on_the_sparse_factor) {
  Parts parts;
  parts.guards = {at("W", "r", "d"), at("mask", "r", "d")};
  expect_refusal(nest_of(parts),
                 "the guard tests mask[r][d]: expected W[r][d], the factor that runs over rows and reduction",
                 {in_three_loops, Kind::guard, 1});
}

TEST(AssignRoles, Asks_for_one_thing_of_each_name) {
  LoopNest nest = nest_of({"rdc", at("Y", "r", "c"), {at("W", "r", "d"), at("size_d", "d", "c")}});
  nest.arrays[1].name = "size_d";
  expect_refusal(nest, "size_d stands for two things here: expected different names",
                 {in_three_loops, Kind::factor, 1});
  nest = nest_of({"rdc", at("Y", "r", "c"), {at("W", "r", "d"), at("d", "d", "c")}});
  nest.arrays[1].name = "d";
  expect_refusal(nest, "d stands for two things here: expected different names", {{0, 0}});
}

/// A statement in loops over r and c, after the product's own.
LoopNest followed_by(const Statement& statement) {
  LoopNest nest = nest_of({});
  nest.arrays.push_back({"bias", {Affine::of("size_r")}, ArrayRole::unknown});
  nest.body.push_back(in_loops("rc", statement));
  return nest;
}

TEST(AssignRoles, Makes_an_epilogue_of_what_follows) {
  const Access bias = element("bias", {Affine::of("r")});
  const LoopNest found =
      assign_roles(followed_by({{}, Store{at("Y", "r", "c"), at("Y", "r", "c") * Expression(bias)}}));
  ASSERT_TRUE(found.epilogue.has_value());
  EXPECT_EQ(*found.epilogue, (Epilogue{{"r", "c"}, "sum", {}, Name{"sum"} * Expression(bias)}));
  EXPECT_EQ(found.arrays.back(), (ArrayDeclaration{"bias", {Affine::of("size_r")}, ArrayRole::operand}));
  EXPECT_EQ(found.body.size(), 1U) << "only the product's loops stay";
}

TEST(AssignRoles, Asks_for_operands_of_rows_and_columns) {
  const Access shifted = element("bias", {Affine::of("r") + Affine(1)});
  expect_refusal(followed_by({{}, Update{at("Y", "r", "c"), Expression(2.0) * Expression(shifted)}}),
                 "bias[r + 1] has a part in what Y becomes: expected a number, bias[r], bias[c] or bias[r][c]",
                 {{1, 0, 0}, Kind::operand, 0});
  expect_refusal(followed_by({{}, Store{at("Y", "r", "c"), at("Y", "r", "c") + at("W", "r", "c")}}),
                 "W is a factor of the product: expected another array in what Y becomes",
                 {{1, 0, 0}, Kind::operand, 1});
  expect_refusal(followed_by({{is_nonzero(at("mask", "r", "c"))}, Update{at("Y", "r", "c"), 1.0}}),
                 "Y is expected to be changed once per element, after the reduction loop and without a guard",
                 {{1, 0, 0}});
}

TEST(AssignRoles, Has_no_words_for_what_no_program_becomes) {
  LoopNest nest = nest_of({});
  nest.body.push_back(Node{Barrier{}});
  EXPECT_THROW(assign_roles(nest), Defect) << "neither loop nor update";
  EXPECT_THROW(assign_roles(nest_of({"rrdc"})), Defect) << "one iterator of two loops";
  EXPECT_THROW(assign_roles(nest_of({"rdc", at("Y", "r", "c"), {at("W", "r", "d")}})), Defect) << "one factor";
}

}  // namespace
}  // namespace esc
