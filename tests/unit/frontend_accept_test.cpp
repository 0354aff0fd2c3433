// SPDX-License-Identifier: Apache-2.0
// Loop nests that mean the same product: each parses to the nest of the paper's Listing 1 once its names are replaced.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>

#include "generator/frontend/parse_loop_nest.h"
#include "generator/ir/print.h"
#include "generator/ir/print_function.h"
#include "generator/ir/rewrite.h"
#include "generator/lower/canonicalize.h"
#include "generator/support/file.h"
#include "tests/unit/accepted_nests.h"

namespace esc {
namespace {

using Names = std::map<std::string, std::string>;

Affine renamed(const Affine& affine, const Names& names) {
  Affine result = affine.constant();
  for (const Affine::Term& term : affine.terms()) {
    result = result + Affine::of(names.at(term.name), term.coefficient);
  }
  return result;
}

void collect_loops(const Block& block, std::vector<Loop>& loops) {
  for (const Node& node : block) {
    if (const auto* loop = std::get_if<Loop>(&node.content)) {
      loops.push_back(*loop);
      collect_loops(loop->body, loops);
    }
  }
}

std::vector<Loop> loops_of(const LoopNest& nest) {
  std::vector<Loop> loops;
  collect_loops(nest.body, loops);
  return loops;
}

Block with_iterators(Block block, const Names& names) {
  for (Node& node : block) {
    if (auto* loop = std::get_if<Loop>(&node.content)) {
      loop->iterator = names.at(loop->iterator);
      loop->body = with_iterators(loop->body, names);
    }
  }
  return block;
}

/// The nest with the names of Listing 1, which follow from the roles.
LoopNest with_canonical_names(const LoopNest& nest) {
  const std::map<Role, std::array<const char*, 2>> of_role = {
      {Role::row, {"i", "M"}}, {Role::reduction, {"k", "K"}}, {Role::column, {"j", "N"}}};
  Names names;
  for (const Loop& loop : loops_of(nest)) {
    names[loop.iterator] = of_role.at(loop.role)[0];
    for (const Affine::Term& term : loop.upper.terms()) {
      names[term.name] = of_role.at(loop.role)[1];
    }
  }
  names[nest.array(ArrayRole::sparse).name] = "A";
  names[nest.array(ArrayRole::dense).name] = "B";
  names[nest.array(ArrayRole::output).name] = "C";

  LoopNest result = nest;
  for (ArrayDeclaration& array : result.arrays) {
    array.name = names.at(array.name);
    for (Affine& extent : array.extents) {
      extent = renamed(extent, names);
    }
  }
  Rewrite how;
  how.affine = [&](const Affine& affine) { return renamed(affine, names); };
  how.access = [&](const Access& access) { return Access{names.at(access.array), access.subscripts}; };
  result.body = with_iterators(rewrite(nest.body, how), names);
  return result;
}

/// Listing 1 with the variant's loop order, guard, element type and extents.
LoopNest expected_nest(const Variant& variant) {
  LoopNest nest = spmm_nest();
  std::vector<Loop> loops = loops_of(nest);
  Node node = loops.back().body.front();
  if (!variant.guarded) {
    std::get<Statement>(node.content).guard.clear();
  }
  const std::string order = variant.order;
  std::for_each(order.rbegin(), order.rend(), [&](char iterator) {
    Loop loop = *std::find_if(loops.begin(), loops.end(), [&](const Loop& one) { return one.iterator[0] == iterator; });
    loop.body = {std::move(node)};
    node = Node{loop};
  });
  nest.body = {node};
  for (ArrayDeclaration& array : nest.arrays) {
    array.type = variant.element;
  }

  const char* const sizes[] = {"M", "K", "N"};
  for (int index = 0; index < 3; ++index) {
    if (variant.extents[index] != 0) {
      Rewrite how;
      how.affine = [&](const Affine& affine) { return affine.substitute(sizes[index], variant.extents[index]); };
      nest.body = rewrite(nest.body, how);
      for (ArrayDeclaration& array : nest.arrays) {
        for (Affine& extent : array.extents) {
          extent = how.affine(extent);
        }
      }
    }
  }
  return nest;
}

class FrontendAccepts : public testing::TestWithParam<Variant> {};

TEST_P(FrontendAccepts, TheSameProduct) {
  const Variant& variant = GetParam();
  const LoopNest nest = with_canonical_names(parse_loop_nest(variant.source, variant.file));
  const LoopNest expected = expected_nest(variant);
  EXPECT_EQ(print(nest), print(expected)) << variant.source;
  EXPECT_EQ(nest, expected) << variant.source;
}

TEST_P(FrontendAccepts, WhatIsPrintedAsAFunction) {
  const LoopNest nest = parse_loop_nest(GetParam().source, GetParam().file);
  EXPECT_EQ(parse_loop_nest(print_function(nest), "printed.c"), nest) << print_function(nest);
}

INSTANTIATE_TEST_SUITE_P(Variants, FrontendAccepts, testing::ValuesIn(accepted_nests()),
                         [](const auto& tested) { return std::string(tested.param.name); });

TEST(FrontendAccept, ShippedNestIsListing1) {
  const std::string file = ESC_SOURCE_DIR "/templates/spmm.c";
  EXPECT_EQ(parse_loop_nest(read_file(file), file), spmm_nest());
}

TEST(FrontendAccept, KeepsTheNamesOfTheFile) {
  const LoopNest nest = parse_loop_nest(
      "void layer(int out, int in, const float* w, const float* x, float* y) {\n"
      "  for (int t = 0; t < 64; t++) for (int o = 0; o < out; o++) for (int c = 0; c < in; c++) {\n"
      "    const float value = w[o * in + c];\n"
      "    if (value == 0) continue;\n"
      "    y[o * 64 + t] += value * x[c * 64 + t];\n"
      "  }\n"
      "}\n",
      "layer.c");
  EXPECT_EQ(print(nest),
            "for (t = 0; t < 64; t++)\n"
            "  for (o = 0; o < out; o++)\n"
            "    for (c = 0; c < in; c++)\n"
            "      if (w[o][c] != 0) y[o][t] += w[o][c] * x[c][t];\n");
  const std::vector<ArrayDeclaration> arrays = {{"w", {Affine::of("out"), Affine::of("in")}, ArrayRole::sparse},
                                                {"x", {Affine::of("in"), 64}, ArrayRole::dense},
                                                {"y", {Affine::of("out"), 64}, ArrayRole::output}};
  EXPECT_EQ(nest.arrays, arrays);
}

TEST(FrontendAccept, SquareMatricesShareASize) {
  const LoopNest nest = parse_loop_nest(
      "void f(int n, float A[n][n], float B[n][n], float C[n][n]) {\n"
      "  for (int i = 0; i < n; i++) for (int k = 0; k < n; k++) for (int j = 0; j < n; j++)\n"
      "    C[i][j] += A[i][k] * B[k][j];\n"
      "}\n",
      "square.c");
  EXPECT_EQ(print(nest),
            "for (i = 0; i < n; i++)\n"
            "  for (k = 0; k < n; k++)\n"
            "    for (j = 0; j < n; j++)\n"
            "      C[i][j] += A[i][k] * B[k][j];\n");
}

/// The dense matrices transposed, alone and as PyTorch has both of a linear layer, with subscripts of two dimensions
/// and flat ones.
TEST(FrontendAccept, DenseMatricesTransposed) {
  const auto source = [](const std::string& parameters, const std::string& update) {
    return "void spmm(int M, int K, int N, " + parameters +
           ") {\nfor (int i = 0; i < M; i++) for (int k = 0; k < K; k++)\n" + "for (int j = 0; j < N; j++) " + update +
           "\n}\n";
  };
  const Affine n = Affine::of("N");
  const Layout of_b{{{"k", Affine::of("K")}}, {{"j", n}}, {{n, Affine::of("j")}, {Affine::of("K"), Affine::of("k")}}};
  const Layout of_c{{{"i", Affine::of("M")}}, {{"j", n}}, {{n, Affine::of("j")}, {Affine::of("M"), Affine::of("i")}}};
  const std::string arrays = "const float *A, const float *B, float *C";
  for (const auto& [text, b, c] :
       {std::tuple(source("float A[M][K], float B[N][K], float C[M][N]", "C[i][j] += A[i][k] * B[j][k];"), true, false),
        std::tuple(source("float A[M][K], float B[K][N], float C[N][M]", "C[j][i] += A[i][k] * B[k][j];"), false, true),
        std::tuple(source("float A[M][K], float B[N][K], float C[N][M]", "C[j][i] += A[i][k] * B[j][k];"), true, true),
        std::tuple(source(arrays, "C[i*N+j] += A[i*K+k] * B[j*K+k];"), true, false),
        std::tuple(source(arrays, "C[j*M+i] += A[i*K+k] * B[j*K+k];"), true, true)}) {
    const LoopNest nest = parse_loop_nest(text, "a.c");
    const LoopNest canonical = canonicalize(nest);
    EXPECT_EQ(nest.array(ArrayRole::sparse).name, "A");
    EXPECT_EQ(canonical.array(ArrayRole::dense).layout, b ? std::optional(of_b) : std::nullopt) << text;
    EXPECT_EQ(canonical.array(ArrayRole::output).layout, c ? std::optional(of_c) : std::nullopt) << text;
    EXPECT_EQ(parse_loop_nest(print_function(nest), "printed.c"), nest) << print_function(nest);
  }
}

}  // namespace
}  // namespace esc
