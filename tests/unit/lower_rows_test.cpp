// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "generator/ir/print.h"
#include "generator/lower/accumulate_sums.h"
#include "generator/lower/assign_tasks.h"
#include "generator/lower/batch_columns.h"
#include "generator/lower/canonicalize.h"
#include "generator/lower/cut_rows.h"
#include "generator/lower/enumerate.h"
#include "generator/lower/merge_patterns.h"
#include "generator/lower/pack_tasks.h"
#include "generator/lower/prefetch.h"
#include "generator/lower/share_sums.h"
#include "generator/lower/shuffle_sums.h"
#include "generator/lower/stage_regions.h"
#include "generator/lower/tile_columns.h"
#include "generator/lower/unroll.h"
#include "generator/lower/vectorize.h"
#include "generator/lower/zero_split_rows.h"
#include "generator/pipeline.h"
#include "generator/schedule/schedule.h"
#include "tests/support/run_size.h"
#include "tests/unit/refused_step.h"

namespace esc {
namespace {

using testing::HasSubstr;
using testing::Not;

const LoopNest canonical = canonicalize(spmm_nest());
const LoopNest merged = merge_patterns(enumerate(unroll(canonical, {"i", 1}), std::nullopt), {});
const LoopNest cut = cut_rows(merged, {"k", 128});
const LoopNest packed = pack_tasks(cut, {"A", 16});
const LoopNest assigned = assign_tasks(packed, {"task", 4, 8});
const LoopNest tiled = tile_columns(assigned, {"j", 8, 2});
const LoopNest accumulated = accumulate_sums(tiled, {});
const LoopNest shuffled = shuffle_sums(accumulated, {});
const LoopNest vectorized = vectorize(shuffled, {"j"});
const LoopNest batched = batch_columns(vectorized, {"k", 2});
const LoopNest prefetched = prefetch(batched, {"A"});

// Must apply: a nest, and what is in the result.

TEST(CutRows, LeavesPiecesOfTheColumnsOfARow) {
  EXPECT_EQ(print(cut),
            "// pieces = ceil(K / 128)\n"
            "// row_tile_height = 1\n"
            "for (i = 0; i < M; i++)\n"
            "  for (piece = 0; piece < pieces; piece++) {\n"
            "    int count = size(columns(i, any of 0b1));\n"
            "    int end = min(count, 128*piece + 128);\n"
            "    for (j = 0; j < N; j++)\n"
            "      for (c = 128*piece; c < end; c++) {\n"
            "        unsigned int k = columns(i, any of 0b1)[c];\n"
            "        C[i][j] += A[i][k] * B[k][j];\n"
            "      }\n"
            "  }\n");
}

TEST(PackTasks, ReadsTheNonZerosOfEachTask) {
  EXPECT_EQ(print(packed),
            "// row_tile_height = 1\n"
            "for (task = 0; task < tasks; task++) {\n"
            "  int i = Rows[task];\n"
            "  int first = First[task];\n"
            "  int length = Lengths[task];\n"
            "  for (j = 0; j < N; j++)\n"
            "    for (c = 0; c < length; c++) {\n"
            "      unsigned int k = Columns[first + c];\n"
            "      C[i][j] += Values[first + c] * B[k][j];\n"
            "    }\n"
            "}\n");
}

TEST(AssignTasks, GivesHeavyTasksAWarpAndLightOnesALaneGroup) {
  const std::string text = print(assigned);
  EXPECT_THAT(text, HasSubstr("// heavy_blocks = ceil(heavy / 4)\n"
                              "// light_blocks = ceil((tasks - heavy) / 32)\n"));
  EXPECT_THAT(text, HasSubstr("bool is_heavy = block < heavy_blocks;\n"));
  EXPECT_THAT(text, HasSubstr("bool present = task < (is_heavy ? heavy : tasks);\n"));
  EXPECT_THAT(text,
              HasSubstr("if (present) first, i, length, split = load_task(First, Rows, Lengths, Splits, task);\n"));
  EXPECT_THAT(text, HasSubstr("unsigned int stride = is_heavy ? sharing_groups : 1;\n"));
  EXPECT_THAT(text, HasSubstr("for (c = start; c < length; c += stride) {\n"));
  EXPECT_THAT(text, HasSubstr("atomicAdd(&C[i][j], Values[first + c] * B[k][j]);"));
  EXPECT_EQ(assigned.packed.kind, PackedForm::Kind::tasks);
  EXPECT_EQ(assigned.packed.longest, 128);
  EXPECT_EQ(assigned.packed.light, 16);
}

TEST(AssignTasks, WantsCToBeZero) {
  EXPECT_EQ(assigned.zeroed, Zeroed::output);
  EXPECT_TRUE(assigned.before.empty());
}

TEST(ShuffleSums, SetsSplitRowsToZeroInFront) {
  EXPECT_EQ(shuffled.zeroed, Zeroed::nothing);
  ASSERT_EQ(shuffled.before.size(), 1U);
  EXPECT_EQ(shuffled.before.front(), zero_split_rows(accumulated));
  EXPECT_THAT(print(shuffled.before.front()),
              HasSubstr("unsigned int row = number < split_rows ? SplitRows[number] : 0;\n"));
  EXPECT_THAT(print(shuffled.before.front()), HasSubstr("C[row][column] = 0;"));
}

TEST(TileColumns, GivesEachLaneConsecutiveColumnsOfATask) {
  const std::string text = print(tiled);
  EXPECT_THAT(text, HasSubstr("grid (tile = 0; tile < tiles; tile++)"));
  EXPECT_THAT(text, HasSubstr("unsigned int j = tile * tile_columns + lane * vector_width;\n"));
  EXPECT_THAT(text, HasSubstr("if (j + v < N) atomicAdd(&C[i][j + v], Values[first + c] * B[k][j + v]);"));
}

TEST(AccumulateSums, AddsWhereARowOrATaskIsShared) {
  const std::string text = print(accumulated);
  EXPECT_THAT(text, HasSubstr("if (j + v < N) sums[v] += Values[first + c] * B[k][j + v];"));
  EXPECT_THAT(text, HasSubstr("if (0 < is_heavy + split) {\n"));
}

TEST(ShuffleSums, AddsOverTheGroupsOfHeavyTasksAlone) {
  const std::string text = print(shuffled);
  EXPECT_THAT(text, HasSubstr("if (is_heavy) {\n            first_sum = add_groups(sums, group);\n"
                              "            if (present && group % copies < 1) {"));
  EXPECT_THAT(text, HasSubstr("if (split) {\n"));
  EXPECT_THAT(text, Not(HasSubstr("is_heavy + split")));
}

TEST(Vectorize, DeliversSumsOfATask) {
  EXPECT_THAT(print(vectorized),
              HasSubstr("epilogue_store(C[row][at], sums[e], stored_width, at < N ? N - at : 0, split);"));
}

TEST(BatchColumns, TakesSeveralNonZerosOfATask) {
  const std::string text = print(batched);
  EXPECT_THAT(
      text,
      HasSubstr("unsigned int step = stride * pairs_at_once;\n          for (c = start; c < length; c += step) {"));
  EXPECT_THAT(text, HasSubstr("load_pairs(current, Columns, Values, first, c, stride, length);\n"));
  EXPECT_THAT(text, HasSubstr("multiply_pairs(current, B, columns, sums);\n"));
}

TEST(Prefetch, AsksAnEmptyTaskForNothing) {
  const std::string text = print(prefetched);
  EXPECT_THAT(
      text,
      HasSubstr("if (start < length) {\n            load_pairs(next, Columns, Values, first, start, stride, length);"));
  EXPECT_THAT(text,
              HasSubstr("if (c + step < length) {\n              load_pairs(next, Columns, Values, first, c + step,"));
}

TEST(RowsPipeline, NamesEveryStepInOrder) {
  std::vector<std::string> names;
  for (const LoweredStep& step : lower_by_steps(spmm_nest(), expand(parse_schedule("rows:task=128")))) {
    names.push_back(step.name);
  }
  EXPECT_THAT(names, testing::ElementsAre("input", "canonicalize", "unroll(i, 1)", "enumerate()", "merge()",
                                          "split_rows(k, 128)", "transform(A, tasks, 16)",
                                          "assign(task, warps=4, lane_groups=4)", "tile(j, columns=32, vector=4)",
                                          "accumulate()", "shuffle()", "vectorize(j)", "unroll_k(k, 4)", "prefetch(A)",
                                          "pdl()"));
}

TEST(RowsPipeline, TakesLegalSchedules) {
  for (const long long bcol : {6, 128}) {
    for (const RowsSchedule& schedule : tests::drawn_of(legal_rows_schedules(bcol), 50)) {
      EXPECT_NO_THROW(lower(spmm_nest(), expand(schedule))) << print(schedule);
    }
  }
}

// Must refuse: a step, and words of the reason.

void cut_pairs_of_rows() {
  cut_rows(merge_patterns(enumerate(unroll(canonical, {"i", 2}), std::nullopt), {}), {"k", 128});
}

INSTANTIATE_TEST_SUITE_P(
    Rows, RefusedStep,
    testing::Values(
        StepRefusal{"cut too early", [] { cut_rows(canonical, {"k", 4}); },
                    "there is no loop over merged columns 'k' to cut"},
        StepRefusal{"cut unknown", [] { cut_rows(merged, {"x", 4}); },
                    "there is no loop over merged columns 'x' to cut"},
        StepRefusal{"cut twice", [] { cut_rows(cut, {"k", 4}); }, "and cut once"},
        StepRefusal{"cut row tiles", cut_pairs_of_rows,
                    "a row tile has 2 rows, and only rows can be cut; unroll the row loop by 1"},
        StepRefusal{"cut to nothing", [] { cut_rows(merged, {"k", 0}); },
                    "task=0 is outside 1 to 512; the nearest legal value is 1"},
        StepRefusal{"cut to 513", [] { cut_rows(merged, {"k", 513}); }, "the nearest legal value is 512"},
        StepRefusal{"cut by 48", [] { cut_rows(merged, {"k", 48}); },
                    "task=48 is no power of two; the nearest legal value is 32"},
        StepRefusal{"assign columns", [] { assign_tasks(packed, {"c", 4, 8}); },
                    "there is no loop 'c' over tasks to map to the grid"},
        StepRefusal{"unroll tasks", [] { unroll(packed, {"task", 2}); },
                    "the statements of loop 'task' are already transformed"},
        StepRefusal{"pack dense", [] { pack_tasks(cut, {"B", 4}); }, "'B' is not a sparse array of the nest"},
        StepRefusal{"pack twice", [] { pack_tasks(packed, {"A", 4}); }, "'A' is not a sparse array of the nest"},
        StepRefusal{"pack too early", [] { pack_tasks(merged, {"A", 4}); },
                    "the rows are not cut; cut the rows into tasks first"},
        StepRefusal{"light 0", [] { pack_tasks(cut, {"A", 0}); }, "light=0 is outside 1 to 512"},
        StepRefusal{"map rows", [] { assign_tasks(merged, {"i", 1, 1}); },
                    "there is no loop 'i' over tasks to map to the grid"},
        StepRefusal{"map unknown", [] { assign_tasks(packed, {"x", 1, 1}); }, "the loops of the nest are task, j, c"},
        StepRefusal{"17 warps", [] { assign_tasks(packed, {"task", 17, 1}); }, "warps=17 is outside 1 to 16"},
        StepRefusal{"0 groups", [] { assign_tasks(packed, {"task", 1, 0}); }, "lane_groups=0 is outside 1 to 32"},
        StepRefusal{"tiles too early", [] { tile_columns(packed, {"j", 8, 2}); }, "are not mapped to the grid"},
        StepRefusal{"tiles twice", [] { tile_columns(tiled, {"j", 8, 2}); }, "there is no column loop 'j'"},
        StepRefusal{"too many lanes", [] { tile_columns(assigned, {"j", 32, 4}); }, "more than a warp's 32"},
        StepRefusal{"accumulate too early", [] { accumulate_sums(assigned, {}); },
                    "the columns of A are not dealt to the threads"},
        StepRefusal{"accumulate twice", [] { accumulate_sums(accumulated, {}); }, "accumulate once"},
        StepRefusal{"shuffle too early", [] { shuffle_sums(tiled, {}); }, "the sums are not in registers"},
        StepRefusal{"shuffle twice", [] { shuffle_sums(shuffled, {}); }, "shuffle once"},
        StepRefusal{"share tasks", [] { share_sums(shuffled, {}); },
                    "the sums of the warps of a row tile are not in their registers"},
        StepRefusal{"batch by 9", [] { batch_columns(vectorized, {"k", 9}); },
                    "unroll_k=9 is outside 1 to 8; the nearest legal value is 8"},
        StepRefusal{"stage tasks", [] { stage_regions(batched, {"A"}); }, "'A' is not stored in regions"}));

}  // namespace
}  // namespace esc
