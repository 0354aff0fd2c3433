// SPDX-License-Identifier: Apache-2.0
// Nests of any loops over arrays of any dimensions: read as they are written, with sizes that are given as numbers.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "generator/frontend/parse_loop_nest.h"
#include "generator/ir/build.h"
#include "generator/ir/print.h"
#include "generator/ir/print_function.h"
#include "generator/support/error.h"
#include "tests/unit/any_nests.h"

namespace esc {
namespace {

using testing::HasSubstr;

std::string print_declarations(const LoopNest& nest) {
  std::string text;
  for (const ArrayDeclaration& array : nest.arrays) {
    text += (text.empty() ? "" : ", ") + array.name;
    for (const Affine& extent : array.extents) {
      text += "[" + print(extent) + "]";
    }
  }
  return text;
}

/// The nest's only statement.
const Statement& statement_of(const LoopNest& nest) {
  const Block* block = &nest.body;
  while (const auto* loop = std::get_if<Loop>(&block->front().content)) {
    block = &loop->body;
  }
  return std::get<Statement>(block->front().content);
}

class FrontendReadsAnyNest : public testing::TestWithParam<AnyNest> {};

TEST_P(FrontendReadsAnyNest, AsItIsWritten) {
  const AnyNest& tested = GetParam();
  const LoopNest nest = parse_as_written(tested.source, "nest.c", NestHeaders::of_system, tested.sizes);
  EXPECT_EQ(print(nest.body), tested.printed) << tested.source;
  EXPECT_EQ(print_declarations(nest), tested.arrays);
  for (const ArrayDeclaration& array : nest.arrays) {
    EXPECT_EQ(array.role, ArrayRole::unknown);
    EXPECT_FALSE(array.layout.has_value());
  }
}

TEST_P(FrontendReadsAnyNest, AsItIsPrintedAsAFunction) {
  const LoopNest nest = parse_as_written(GetParam().source, "nest.c", NestHeaders::of_system, GetParam().sizes);
  const std::string printed = print_function(nest);
  EXPECT_EQ(parse_as_written(printed, "printed.c"), nest) << printed;
  EXPECT_EQ(print_function(parse_as_written(printed, "printed.c")), printed);
}

INSTANTIATE_TEST_SUITE_P(Nests, FrontendReadsAnyNest, testing::ValuesIn(any_nests()),
                         [](const auto& tested) { return std::string(tested.param.name); });

/// What the guard of a statement on X[p][q], in loops p < 8 and q < 6, is read as.
std::string guard_read_from(const std::string& condition,
                            const std::string& statement_behind = "Y[i][p] += W[i][q] * X[p + q];") {
  const LoopNest nest = parse_as_written(
      "void f(const float W[4][6], const float X[13], float Y[4][8], int T) {\n"
      "for (int i = 0; i < 4; i++) for (int p = 0; p < 8; p++) for (int q = 0; q < 6; q++) {\n"
      "const int h = 2 * p + q - 1;\n" +
          condition + " " + statement_behind + " } }\n",
      "guard.c");
  return print(statement_of(nest).guard);
}

TEST(FrontendGuard, BoundsAreLowAtMostIndexAndIndexBelowHigh) {
  const char* const low = "0 <= 2*p + q - 1";
  for (const char* written :
       {"if (h >= 0)", "if (0 <= h)", "if (h > -1)", "if (-1 < h)", "if (!(h < 0))", "if (h < 0) continue;",
        "if (0 > h) { continue; }", "if (2 * p + q >= 1)", "if (!!(h >= 0))", "const int inside = h >= 0; if (inside)",
        "if (!(h >= 0)) continue;"}) {
    EXPECT_EQ(guard_read_from(written), low) << written;
  }
  const char* const high = "2*p + q - 1 < 13";
  for (const char* written : {"if (h < 13)", "if (13 > h)", "if (h <= 12)", "if (12 >= h)", "if (h >= 13) continue;",
                              "if (h > 12) continue;", "if (!(h >= 13))", "if (2 * p + q - 1 < 13)"}) {
    EXPECT_EQ(guard_read_from(written), high) << written;
  }
  EXPECT_EQ(guard_read_from("if (h < T)"), "2*p + q - 1 < T");
  EXPECT_EQ(guard_read_from("if (p < q)"), "p < q");
  EXPECT_EQ(guard_read_from("if (p <= q)"), "p <= q");
}

TEST(FrontendGuard, ConjunctionsAreSplit) {
  const char* const both = "0 <= 2*p + q - 1 && 2*p + q - 1 < 13";
  for (const char* written : {"if (h >= 0 && h < 13)", "if (h >= 0) if (h < 13)", "if (h < 0 || h >= 13) continue;",
                              "if (!(h < 0 || h >= 13))", "if (h < 0) continue; if (h >= 13) continue;",
                              "const int inside = h >= 0 && h < 13; if (inside)"}) {
    EXPECT_EQ(guard_read_from(written), both) << written;
  }
  const char* const all = "W[i][q] != 0 && 0 <= 2*p + q - 1 && 2*p + q - 1 < 13";
  for (const char* written : {"if (W[i][q] != 0 && h >= 0 && h < 13)", "if (W[i][q] && (h >= 0 && h < 13))",
                              "if (W[i][q]) if (h >= 0 && h < 13)", "if (W[i][q] == 0 || h < 0 || h >= 13) continue;",
                              "if (!W[i][q]) continue; if (h >= 0 && h < 13)"}) {
    EXPECT_EQ(guard_read_from(written), all) << written;
  }
}

/// The text, read with these sizes.
LoopNest read_with(const std::string& text, const GivenSizes& sizes) {
  return parse_as_written(text, "sizes.c", NestHeaders::of_system, sizes);
}

const char* const strided =
    "void f(int M, int K, int N, int stride, int pad, const float W[M][K], const float X[(N - 1) * stride + K - pad], "
    "float Y[M][N]) {\n"
    "for (int i = 0; i < M; i++) for (int j = 0; j < N; j++) for (int k = 0; k < K; k++)\n"
    "if (j * stride + k - pad >= 0) Y[i][j] += W[i][k] * X[j * stride + k - pad]; }\n";

TEST(FrontendSizes, AreNumbersInTheNest) {
  const LoopNest nest = read_with(strided, {{{"stride", 3}, {"pad", 2}, {"N", 5}, {"K", 4}}, {}});
  EXPECT_EQ(print(nest.body),
            "for (i = 0; i < M; i++)\n"
            "  for (j = 0; j < 5; j++)\n"
            "    for (k = 0; k < 4; k++)\n"
            "      if (0 <= 3*j + k - 2) Y[i][j] += W[i][k] * X[3*j + k - 2];\n");
  EXPECT_EQ(print_declarations(nest), "W[M][4], X[14], Y[M][5]");
}

TEST(FrontendSizes, MayBeZeroWhereNothingIsCounted) {
  const LoopNest nest = read_with(strided, {{{"stride", 1}, {"pad", 0}, {"N", 5}, {"K", 4}}, {}});
  EXPECT_EQ(print(statement_of(nest).guard), "0 <= j + k");
  EXPECT_EQ(print_declarations(nest), "W[M][4], X[8], Y[M][5]");
}

TEST(FrontendSizes, FollowFromTheWeights) {
  const std::string text =
      "void f(int F, int C, int R, const float W[F][C][R][3], const float X[C][9], float Y[F][7]) {\n"
      "for (int i = 0; i < F; i++) for (int j = 0; j < 7; j++) for (int c = 0; c < C; c++) for (int r = 0; r < R; "
      "r++)\n"
      "for (int s = 0; s < 3; s++) Y[i][j] += W[i][c][r][s] * X[c][j + s]; }\n";
  const LoopNest nest = read_with(text, {{}, {8, 4, 1, 3}});
  EXPECT_EQ(print_declarations(nest), "W[8][4][1][3], X[4][9], Y[8][7]");
  EXPECT_EQ(read_with(text, {{{"F", 8}, {"R", 1}}, {8, 4, 1, 3}}), nest) << "the same numbers again";
}

TEST(FrontendSizes, WithoutWeightsOfFourDimensionsFollowFromNothing) {
  const LoopNest nest = read_with(strided, {{{"stride", 3}, {"pad", 2}, {"N", 5}, {"K", 4}}, {8, 4, 1, 3}});
  EXPECT_EQ(print_declarations(nest), "W[M][4], X[14], Y[M][5]");
}

void expect_size_error(const std::string& text, const GivenSizes& sizes, const std::string& words) {
  try {
    read_with(text, sizes);
    FAIL() << "accepted";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr(words));
    EXPECT_EQ(error.status(), ExitStatus::bad_input);
  }
}

TEST(FrontendSizes, OfAnotherFunctionAreRefused) {
  expect_size_error(strided, {{{"S", 3}}, {}},
                    "--size S=3: names no integer parameter of the function f; those it has are M, K, N, stride, pad");
  expect_size_error(strided, {{{"W", 3}}, {}}, "--size W=3: names no integer parameter");
  expect_size_error(
      "void f(const float A[4][4], const float B[4][4], float C[4][4]) {\n"
      "for (int i = 0; i < 4; i++) for (int k = 0; k < 4; k++) for (int j = 0; j < 4; j++) C[i][j] += A[i][k] * "
      "B[k][j]; }\n",
      {{{"M", 4}}, {}},
      "--size M=4: names no integer parameter of the function f; leave it out: the function has none");
}

TEST(FrontendSizes, ThatContradictTheWeightsAreRefused) {
  const std::string text =
      "void f(int F, int R, const float W[F][4][R][R], const float X[4][9], float Y[F][7]) {\n"
      "for (int i = 0; i < F; i++) for (int j = 0; j < 7; j++) for (int c = 0; c < 4; c++) for (int r = 0; r < R; "
      "r++)\n"
      "for (int s = 0; s < R; s++) Y[i][j] += W[i][c][r][s] * X[c][j + s]; }\n";
  expect_size_error(text, {{{"F", 9}}, {8, 4, 3, 3}},
                    "--size F=9: contradicts the weights, which are 8 x 4 x 3 x 3: in W that makes F 8");
  expect_size_error(text, {{}, {8, 4, 1, 3}},
                    "--size R=1: contradicts the weights, which are 8 x 4 x 1 x 3: in W that makes R 3");
  expect_size_error(text, {{}, {8, 5, 3, 3}},
                    "W: is declared with 4 elements in dimension 2, but the weights are 8 x 5 x 3 x 3");
}

/// Draws nests of a product of several iterators for each of rows, reduction and columns, with dimensions that several
/// iterators index.
class NestDrawer {
 public:
  explicit NestDrawer(unsigned seed) : random_(seed) {}

  LoopNest draw() {
    const std::vector<std::string> rows = draw_loops("r", 1, 2);
    const std::vector<std::string> reductions = draw_loops("k", 1, 3);
    const std::vector<std::string> columns = draw_loops("c", 1, 3);
    const ScalarType type = random_() % 2 == 0 ? ScalarType::f32 : ScalarType::f64;
    const Access sparse = declare("A", type, joined(rows, reductions));
    const Access output = declare("C", type, joined(rows, columns));
    const Access dense = declare_dense(type, reductions, columns);
    if (random_() % 2 == 0) {
      guard_.insert(guard_.begin() + static_cast<std::ptrdiff_t>(random_() % (guard_.size() + 1)), is_nonzero(sparse));
    }
    const bool sparse_first = random_() % 2 == 0;
    Node node{Statement{guard_, Update{output, sparse_first ? product({sparse, dense}) : product({dense, sparse})}}};
    std::shuffle(loops_.begin(), loops_.end(), random_);
    for (const auto& [iterator, upper] : loops_) {
      node = sequential_loop(iterator, 0, upper, 1, Role::none, {node});
    }
    std::shuffle(nest_.arrays.begin(), nest_.arrays.end(), random_);
    nest_.body = {node};
    return nest_;
  }

 private:
  std::vector<std::string> draw_loops(const std::string& name, unsigned least, unsigned most) {
    std::vector<std::string> iterators;
    const unsigned count = least + static_cast<unsigned>(random_()) % (most - least + 1);
    for (unsigned number = 0; number < count; ++number) {
      iterators.push_back(name + std::to_string(number));
      const bool is_known = random_() % 3 != 0;
      loops_.emplace_back(iterators.back(), is_known ? Affine(1 + static_cast<std::int64_t>(random_() % 9))
                                                     : Affine::of("Size_" + iterators.back()));
    }
    return iterators;
  }

  std::vector<std::string> joined(std::vector<std::string> left, const std::vector<std::string>& right) {
    left.insert(left.end(), right.begin(), right.end());
    std::shuffle(left.begin(), left.end(), random_);
    return left;
  }

  Affine upper_of(const std::string& iterator) const {
    return std::ranges::find(loops_, iterator, &std::pair<std::string, Affine>::first)->second;
  }

  Access declare(const std::string& name, ScalarType type, const std::vector<std::string>& iterators) {
    ArrayDeclaration array{name, {}, ArrayRole::unknown, type};
    std::vector<Affine> subscripts;
    for (const std::string& iterator : iterators) {
      array.extents.push_back(upper_of(iterator));
      subscripts.push_back(Affine::of(iterator));
    }
    nest_.arrays.push_back(array);
    return element(name, subscripts);
  }

  /// Some of the columns share a dimension with an iterator of the reduction.
  Access declare_dense(ScalarType type, std::vector<std::string> reductions, const std::vector<std::string>& columns) {
    ArrayDeclaration array{"B", {}, ArrayRole::unknown, type};
    std::vector<Affine> subscripts;
    for (const std::string& column : columns) {
      const bool shares = reductions.size() + columns.size() > 2 && !reductions.empty() && random_() % 2 == 0;
      if (!shares || (columns.size() == 1 && reductions.size() == 1)) {
        subscripts.push_back(Affine::of(column));
        array.extents.push_back(upper_of(column));
        continue;
      }
      const auto number = [&](std::int64_t least, std::int64_t most) {
        return least + static_cast<std::int64_t>(random_()) % (most - least + 1);
      };
      const Affine index =
          Affine::of(column, number(1, 3)) + Affine::of(reductions.back(), number(1, 2)) - number(0, 2);
      const Affine extent = random_() % 3 == 0 ? Affine::of("Height") + number(-1, 1) : Affine(number(1, 40));
      reductions.pop_back();
      subscripts.push_back(index);
      array.extents.push_back(extent);
      if (random_() % 2 == 0) {
        guard_.push_back(Operation{Operator::at_most, {0, index}});
      }
      if (random_() % 2 == 0) {
        guard_.push_back(less(index, extent));
      }
    }
    for (const std::string& reduction : reductions) {
      subscripts.push_back(Affine::of(reduction));
      array.extents.push_back(upper_of(reduction));
    }
    nest_.arrays.push_back(array);
    return element("B", subscripts);
  }

  std::mt19937 random_;
  std::vector<std::pair<std::string, Affine>> loops_;
  Guard guard_;
  LoopNest nest_;
};

TEST(FrontendPrintedNest, IsReadAsTheSameOne) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    const LoopNest nest = NestDrawer(seed).draw();
    const std::string printed = print_function(nest);
    EXPECT_EQ(parse_as_written(printed, "drawn.c"), nest) << printed;
  }
}

}  // namespace
}  // namespace esc
