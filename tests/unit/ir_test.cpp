// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "generator/ir/interpret.h"
#include "generator/ir/print.h"
#include "generator/ir/rewrite.h"
#include "generator/support/error.h"

namespace esc {
namespace {

using testing::HasSubstr;

/// The message of the Defect that `action` throws.
std::string defect_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Defect& defect) {
    return defect.what();
  }
  return "nothing was thrown";
}

TEST(Affine, AddsAndSubtractsLikeTerms) {
  const Affine sum = Affine::of("j") + Affine::of("i", 2) + 3 - Affine::of("i") - Affine::of("j");
  EXPECT_EQ(print(sum), "i + 3");
  EXPECT_EQ(sum.coefficient("j"), 0);
  EXPECT_FALSE(sum.mentions("j"));
  EXPECT_EQ(Affine::of("i", 0), Affine(0));
}

TEST(Affine, SubstitutesWithTheCoefficient) {
  const Affine affine = Affine::of("i", 4) + Affine::of("j") + 1;
  EXPECT_EQ(print(affine.substitute("i", Affine::of("row_tile", 2) + 3)), "j + 8*row_tile + 13");
  EXPECT_EQ(affine.substitute("k", 5), affine);
}

TEST(Affine, PrintsEverySign) {
  EXPECT_EQ(print(Affine(0)), "0");
  EXPECT_EQ(print(Affine(-7)), "-7");
  EXPECT_EQ(print(Affine::of("a", -1)), "-a");
  EXPECT_EQ(print(Affine::of("last") - Affine::of("first")), "last - first");
  EXPECT_EQ(print(Affine::of("a", 3) - Affine::of("b", 2) - 5), "3*a - 2*b - 5");
}

TEST(Affine, EvaluatesAndRefusesUnknownNames) {
  EXPECT_EQ((Affine::of("i", 4) - 1).evaluate({{"i", 3}}), 11);
  EXPECT_THAT(defect_of([] { Affine::of("i").evaluate({}); }), HasSubstr("no value for index variable i"));
}

TEST(Print, ShowsTheInputNestAsThePaperDoes) {
  EXPECT_EQ(print(spmm_nest()),
            "for (i = 0; i < M; i++)\n"
            "  for (k = 0; k < K; k++)\n"
            "    for (j = 0; j < N; j++)\n"
            "      if (A[i][k] != 0) C[i][j] += A[i][k] * B[k][j];\n");
}

TEST(Print, ShowsTheIterationSpaceAndTheAccessFunctions) {
  const std::string text = print_iteration_space(spmm_nest());
  EXPECT_THAT(text, HasSubstr("scope 3:"));
  EXPECT_THAT(text, HasSubstr("{ (i, k, j) : 0 <= i < M, 0 <= k < K, 0 <= j < N }"));
  EXPECT_THAT(text, HasSubstr("roles i row, k reduction, j column"));
  EXPECT_THAT(text, HasSubstr("access B -> [{k: 1}, {j: 1}]"));
}

/// C = A x B for a 2 x 3 matrix with one column of B.
Memory small_memory() {
  return {{{"M", 2}, {"K", 3}, {"N", 1}},
          {{"A", {{2, 3}, {1, 0, 2, 0, 3, 0}}}, {"B", {{3, 1}, {10, 100, 1000}}}, {"C", {{2, 1}, {0, 0}}}}};
}

TEST(Interpret, ComputesTheProduct) {
  EXPECT_EQ(interpret(spmm_nest(), small_memory()).arrays.at("C").elements, (std::vector<double>{2010, 300}));
}

TEST(Interpret, AddsToWhatIsThere) {
  Memory memory = small_memory();
  memory.arrays["C"].elements = {5, 6};
  EXPECT_EQ(interpret(spmm_nest(), memory).arrays.at("C").elements, (std::vector<double>{2015, 306}));
}

TEST(Interpret, FindsAnAccessOutsideAnArray) {
  Memory memory = small_memory();
  memory.sizes["K"] = 4;
  EXPECT_THAT(defect_of([&] { interpret(spmm_nest(), memory); }), HasSubstr("A[i][k] is outside the array: index 3"));
}

/// for each of two blocks: C[0][0] += 1.
LoopNest two_blocks_add(bool atomic) {
  LoopNest nest;
  const Statement add{{}, Update{Access{"C", {{"", 0}, {"", 0}}}, 1.0, atomic}};
  nest.body = {Node{Loop{"block", 0, 2, 1, Role::none, Mapping::grid, {Node{add}}}}};
  return nest;
}

TEST(Interpret, FindsARaceBetweenParallelIterations) {
  EXPECT_THAT(defect_of([] { interpret(two_blocks_add(false), small_memory()); }), HasSubstr("race"));
}

TEST(Interpret, AcceptsAtomicAddsFromParallelIterations) {
  EXPECT_EQ(interpret(two_blocks_add(true), small_memory()).arrays.at("C").elements.front(), 2);
}

TEST(Interpret, GivesZeroForAGuardedScalarWhoseGuardFails) {
  LoopNest nest;
  const Access b{"B", {{"", 7}, {"", 0}}};
  nest.body = {Node{Statement{{less(7, index("K"))}, Define{ScalarType::f32, "b", b}}},
               Node{Statement{{}, Update{Access{"C", {{"", 0}, {"", 0}}}, Name{"b"}}}}};
  EXPECT_EQ(interpret(nest, small_memory()).arrays.at("C").elements.front(), 0);
}

TEST(Interpret, GivesZeroForAGuardedIndexWhoseGuardFailsWithoutLookingAtTheValue) {
  const Access far{"C", {{"", 7}}};
  LoopNest nest;
  nest.body = {Node{Statement{{less(3, 2)}, Define{ScalarType::i32, "x", far}}},
               Node{Statement{{less(2, 3)}, Define{ScalarType::i32, "y", 1}}},
               Node{Statement{{}, Store{{"C", {{"", Affine::of("x") + Affine::of("y")}}}, 5.0}}}};
  EXPECT_EQ(print(nest),
            "int x = 3 < 2 ? C[7] : 0;\n"
            "int y = 2 < 3 ? 1 : 0;\n"
            "C[x + y] = 5;\n");
  EXPECT_EQ(interpret(nest, {{}, {{"C", {{2}, {0, 0}}}}}).arrays.at("C").elements, (std::vector<double>{0, 5}));
}

TEST(Interpret, TakesTheSmallerOfTwoNumbers) {
  LoopNest nest;
  nest.body = {Node{Statement{{}, Define{ScalarType::i32, "least", minimum(index("n"), index("m") - 1)}}},
               Node{Statement{{}, Store{{"C", {{"", Affine::of("least")}}}, 5.0}}}};
  EXPECT_EQ(print(nest), "int least = min(n, m - 1);\nC[least] = 5;\n");
  nest.body = substitute(nest.body, "m", Affine::of("n") + 3);
  EXPECT_THAT(print(nest), HasSubstr("min(n, n + 2)"));
  for (const std::int64_t n : {0, 1}) {
    const Memory after = interpret(nest, {{{"n", n}}, {{"C", {{2}, {0, 0}}}}});
    EXPECT_EQ(after.arrays.at("C").elements[static_cast<std::size_t>(n)], 5);
  }
}

TEST(Rewrite, SubstitutesInBoundsSubscriptsAndGuards) {
  const Block block = substitute(spmm_nest().body, "k", Affine::of("k") + 1);
  EXPECT_THAT(print(block), HasSubstr("if (A[i][k + 1] != 0) C[i][j] += A[i][k + 1] * B[k + 1][j];"));
}

TEST(Rewrite, FindsLoopsByIterator) {
  const LoopNest nest = spmm_nest();
  ASSERT_NE(find_loop(nest.body, "j"), nullptr);
  EXPECT_EQ(find_loop(nest.body, "j")->role, Role::column);
  EXPECT_EQ(find_loop(nest.body, "x"), nullptr);
  EXPECT_EQ(list_iterators(nest.body), "i, k, j");
}

}  // namespace
}  // namespace esc
