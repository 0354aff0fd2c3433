// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "generator/ir/print.h"
#include "generator/ir/rewrite.h"
#include "generator/lower/canonicalize.h"
#include "generator/lower/coarsen.h"
#include "generator/lower/compact.h"
#include "generator/lower/enumerate.h"
#include "generator/lower/map_blocks.h"
#include "generator/lower/map_threads.h"
#include "generator/lower/transform_data.h"
#include "generator/lower/unroll.h"
#include "generator/pipeline.h"
#include "generator/schedule/schedule.h"
#include "tests/unit/refused_step.h"

namespace esc {
namespace {

using testing::HasSubstr;
using testing::Not;

const LoopNest canonical = canonicalize(spmm_nest());
const LoopNest unrolled = unroll(canonical, {"i", 2});
const LoopNest enumerated = enumerate(unrolled, std::nullopt);
const LoopNest on_grid = map_blocks(enumerated, {"i"});
const LoopNest on_lanes = map_threads(on_grid, {"j", 64, 64});
const LoopNest coarsened = coarsen(on_lanes, {"k", 2});
const LoopNest transformed = transform_data(coarsened, {"A"});
const LoopNest compacted = compact(transformed);

// Must apply: a nest, and what is in the result.

TEST(Canonicalize, OrdersTheLoopsRowColumnReduction) {
  EXPECT_EQ(list_iterators(canonical.body), "i, j, k");
  EXPECT_EQ(canonicalize(canonical), canonical);
}

TEST(Canonicalize, GivesAnUnguardedUpdateItsGuard) {
  LoopNest bare = canonical;
  bare.body = replace_loop(canonical.body, "k", [](const Loop& loop) {
    Loop open = loop;
    std::get<Statement>(open.body.front().content).guard.clear();
    return Block{Node{open}};
  });
  EXPECT_EQ(canonicalize(bare), canonical);
}

TEST(Unroll, RepeatsTheStatementWithBoundsForTheLastPanel) {
  EXPECT_EQ(print(unrolled),
            "for (i = 0; i < M; i += 2)\n"
            "  for (j = 0; j < N; j++)\n"
            "    for (k = 0; k < K; k++) {\n"
            "      if (A[i][k] != 0) C[i][j] += A[i][k] * B[k][j];\n"
            "      if (i + 1 < M && A[i + 1][k] != 0) C[i + 1][j] += A[i + 1][k] * B[k][j];\n"
            "    }\n");
}

TEST(Unroll, ByOneLeavesTheStatementAlone) { EXPECT_EQ(unroll(canonical, {"i", 1}), canonical); }

TEST(Enumerate, MakesOneCasePerPattern) {
  EXPECT_EQ(print(enumerated),
            "for (i = 0; i < M; i += 2)\n"
            "  for (j = 0; j < N; j++)\n"
            "    for (k = 0; k < K; k++)\n"
            "      switch (pattern(A[i..i + 1][k])) {\n"
            "        case 0b01: {\n"
            "          C[i][j] += A[i][k] * B[k][j];\n"
            "        } break;\n"
            "        case 0b10: {\n"
            "          C[i + 1][j] += A[i + 1][k] * B[k][j];\n"
            "        } break;\n"
            "        case 0b11: {\n"
            "          C[i][j] += A[i][k] * B[k][j];\n"
            "          C[i + 1][j] += A[i + 1][k] * B[k][j];\n"
            "        } break;\n"
            "      }\n");
}

TEST(Enumerate, LeavesOutPatternsThatTheMatrixDoesNotHave) {
  const std::string text = print(enumerate(unrolled, std::vector<Pattern>{{0b10, 2}}));
  EXPECT_THAT(text, HasSubstr("case 0b10:"));
  EXPECT_THAT(text, Not(HasSubstr("case 0b01:")));
  EXPECT_THAT(text, Not(HasSubstr("case 0b11:")));
}

TEST(MapBlocks, GivesEachPatternOfEachPanelABlock) {
  const std::string text = print(on_grid);
  EXPECT_THAT(text, HasSubstr("// row_tiles = ceil(M / 2)\ngrid (block = 0; block < 3*row_tiles; block++)"));
  EXPECT_THAT(text, HasSubstr("int row_tile = block / 3;\n  int i = 2*row_tile;\n  int choice = block % 3;\n"));
  EXPECT_THAT(text, HasSubstr("for (k : columns(i, 0b11)) {\n          atomicAdd(&C[i][j], A[i][k] * B[k][j]);"));
}

TEST(MapThreads, GivesEachLaneEvery32ndColumn) {
  const std::string text = print(on_lanes);
  EXPECT_THAT(text, HasSubstr("for (j = lane + 64*warp; j < N; j += 128)"));
  EXPECT_THAT(text, HasSubstr("if (j + 32 < N) atomicAdd(&C[i][j + 32], A[i][k] * B[k][j + 32]);"));
}

TEST(MapThreads, NeedsNoWarpForOneWarp) {
  const std::string text = print(map_threads(on_grid, {"j", 32, 32}));
  EXPECT_THAT(text, Not(HasSubstr("warp ")));
  EXPECT_THAT(text, HasSubstr("for (j = lane; j < N; j += 32)"));
}

TEST(Coarsen, LoadsEachElementOfBOnceAndAddsAtTheEnd) {
  const std::string text = print(coarsened);
  EXPECT_THAT(text, HasSubstr("int unrolled = count - count % 2;"));
  EXPECT_THAT(text, HasSubstr("int k1 = columns(i, 0b11)[c + 1];"));
  EXPECT_THAT(text, HasSubstr("float b1_1 = j + 32 < N ? B[k1][j + 32] : 0;"));
  EXPECT_THAT(text, HasSubstr("c1_1 += A[i + 1][k1] * b1_1;"));
  EXPECT_THAT(text, HasSubstr("for (c = unrolled; c < count; c++)"));
  EXPECT_THAT(text, HasSubstr("if (0 < count && j + 32 < N) atomicAdd(&C[i + 1][j + 32], c1_1);"));
}

TEST(Coarsen, ByOneNeedsNoTail) { EXPECT_THAT(print(coarsen(on_lanes, {"k", 1})), Not(HasSubstr("unrolled"))); }

TEST(TransformData, AddressesThePackedArraysByOffsetAndAffinePart) {
  const std::string text = print(transformed);
  EXPECT_THAT(text, HasSubstr("grid (list = 0; list < lists; list++)"));
  EXPECT_THAT(text, HasSubstr("int count = last - first;"));
  EXPECT_THAT(text, HasSubstr("int k1 = Cols[first + c + 1];"));
  EXPECT_THAT(text, HasSubstr("c1_1 += ANNZ[values + 2*c + 3] * b1_1;"));
  EXPECT_THAT(text, Not(HasSubstr("columns(")));
  EXPECT_THAT(text, Not(HasSubstr("0 < count")));
  EXPECT_THAT(text, Not(HasSubstr("A[i")));
}

TEST(Compact, KeepsOneBodyPerNumberOfRows) {
  const std::string text = print(compacted);
  EXPECT_THAT(text, HasSubstr("int rows = popcount(pattern);\n      switch (rows) {"));
  EXPECT_THAT(text, HasSubstr("case 2: {\n          int row0 = lowest_bit(pattern);"));
  EXPECT_THAT(text, HasSubstr("atomicAdd(&C[row1 + i][j], c1_0);"));
  EXPECT_THAT(text, Not(HasSubstr("case 0b")));
}

TEST(Pipeline, NamesEveryStepInOrder) {
  std::vector<std::string> names;
  for (const LoweredStep& step : lower_by_steps(spmm_nest(), expand(parse_schedule("4-2-2-64")))) {
    names.push_back(step.name);
  }
  EXPECT_THAT(names, testing::ElementsAre("input", "canonicalize", "unroll(i, 4)", "enumerate()", "map(i, grid)",
                                          "map(j, lanes, columns=64, threads=64)", "coarsen(k, 2)",
                                          "transform(A, lists)", "compact()"));
}

TEST(Pipeline, OfAMatrixWithoutNonZerosHasNoCases) {
  EXPECT_THAT(print(lower(spmm_nest(), expand(parse_schedule("4-2-2-64")), std::vector<Pattern>{})),
              Not(HasSubstr("case")));
}

// Must refuse: a step, and words of the reason.

INSTANTIATE_TEST_SUITE_P(
    Atomic, RefusedStep,
    testing::Values(
        StepRefusal{"unroll unknown", [] { unroll(canonical, {"x", 2}); },
                    "no row loop 'x' to unroll; the loops of the nest are i, j, k"},
        StepRefusal{"unroll column", [] { unroll(canonical, {"j", 2}); }, "unroll(j, 2): there is no row loop 'j'"},
        StepRefusal{"unroll twice", [] { unroll(unrolled, {"i", 2}); }, "already unrolled by 2"},
        StepRefusal{"unroll enumerated", [] { unroll(enumerate(unroll(canonical, {"i", 1}), std::nullopt), {"i", 2}); },
                    "the statements of loop 'i' are already transformed; unroll the row loop before anything else"},
        StepRefusal{"unroll by 0", [] { unroll(canonical, {"i", 0}); },
                    "UFi=0 is outside 1 to 8; the nearest legal value is 1"},
        StepRefusal{"unroll by 9", [] { unroll(canonical, {"i", 9}); }, "the nearest legal value is 8"},
        StepRefusal{"unroll mapped", [] { unroll(on_grid, {"i", 2}); }, "no row loop 'i'"},
        StepRefusal{"enumerate twice", [] { enumerate(enumerate(canonical, std::nullopt), std::nullopt); },
                    "already enumerated"},
        StepRefusal{"enumerate mapped", [] { enumerate(on_grid, std::nullopt); }, "before the loops are mapped"},
        StepRefusal{"grid unknown", [] { map_blocks(enumerated, {"x"}); }, "no row loop 'x' to map to the grid"},
        StepRefusal{"grid column", [] { map_blocks(enumerated, {"j"}); }, "no row loop 'j'"},
        StepRefusal{"grid too early", [] { map_blocks(unrolled, {"i"}); }, "are not enumerated"},
        StepRefusal{"lanes too early", [] { map_threads(enumerated, {"j", 32, 32}); },
                    "map the row loop to the grid first"},
        StepRefusal{"lanes twice", [] { map_threads(on_lanes, {"j", 32, 32}); }, "already mapped to lanes"},
        StepRefusal{"lanes unknown", [] { map_threads(on_grid, {"x", 32, 32}); }, "no column loop 'x'"},
        StepRefusal{"lanes 33", [] { map_threads(on_grid, {"j", 33, 32}); },
                    "33 columns per warp is not a multiple of 32"},
        StepRefusal{"lanes 160", [] { map_threads(on_grid, {"j", 160, 32}); }, "the nearest legal value is 128"},
        StepRefusal{"threads 300", [] { map_threads(on_grid, {"j", 32, 300}); }, "the nearest legal value is 256"},
        StepRefusal{"threads of the largest number",
                    [] { map_threads(on_grid, {"j", 32, std::numeric_limits<int>::max()}); },
                    "the nearest legal value is 256"},
        StepRefusal{"coarsen too early", [] { coarsen(on_grid, {"k", 2}); }, "map the row and column loops first"},
        StepRefusal{"coarsen twice", [] { coarsen(coarsened, {"k", 2}); }, "no loop over enumerated columns 'k'"},
        StepRefusal{"coarsen unknown", [] { coarsen(on_lanes, {"x", 2}); }, "no loop over enumerated columns 'x'"},
        StepRefusal{"coarsen 17", [] { coarsen(on_lanes, {"k", 17}); },
                    "UFk=17 is outside 1 to 16; the nearest legal value is 16"},
        StepRefusal{"transform too early", [] { transform_data(on_lanes, {"A"}); },
                    "the columns are not coarsened; coarsen the reduction loop first, as in coarsen(k, 1)"},
        StepRefusal{"transform dense", [] { transform_data(coarsened, {"B"}); }, "'B' is not a sparse array"},
        StepRefusal{"transform twice", [] { transform_data(transformed, {"A"}); },
                    "'A' is not a sparse array of the nest"},
        StepRefusal{"compact too early", [] { compact(coarsened); }, "not transformed"},
        StepRefusal{"compact twice", [] { compact(compacted); }, "already compacted"}));

}  // namespace
}  // namespace esc
