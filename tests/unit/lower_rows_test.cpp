#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "generator/ir/print.h"
#include "generator/lower/canonicalize.h"
#include "generator/lower/cut_rows.h"
#include "generator/lower/enumerate.h"
#include "generator/lower/map_tasks.h"
#include "generator/lower/map_tiles.h"
#include "generator/lower/merge_patterns.h"
#include "generator/lower/pack_tasks.h"
#include "generator/lower/share_tasks.h"
#include "generator/lower/sum_tasks.h"
#include "generator/lower/unroll.h"
#include "generator/lower/unroll_tasks.h"
#include "generator/pipeline.h"
#include "generator/schedule/schedule.h"
#include "tests/unit/refused_step.h"

namespace esc {
namespace {

using testing::HasSubstr;
using testing::Not;

const LoopNest canonical = canonicalize(spmm_nest());
const LoopNest merged = merge_patterns(enumerate(unroll(canonical, {"i", 1}), std::nullopt), {});
const LoopNest cut = cut_rows(merged, {"k", 128});
const LoopNest packed = pack_tasks(cut, {"A", 16});
const LoopNest mapped = map_tasks(packed, {"task", 4, 8});
const LoopNest tiled = map_tiles(mapped, {"j", 8, 2});
const LoopNest shared_out = share_tasks(tiled, {"k", 1, 8});
const LoopNest reduced = sum_tasks(shared_out, {});
const LoopNest unrolled = unroll_tasks(reduced, {"k", 2});

/// The part of a nest for heavy tasks, which comes first, or for light ones.
std::string heavy_part(const LoopNest& nest) {
  const std::string text = print(nest);
  return text.substr(0, text.find("grid (block = 0; block < light_blocks"));
}
std::string light_part(const LoopNest& nest) {
  const std::string text = print(nest);
  return text.substr(text.find("grid (block = 0; block < light_blocks"));
}

// Must apply: a nest, and what stands in the result.

TEST(CutRows, LeavesPiecesOfTheColumnsOfARow) {
  EXPECT_EQ(print(cut),
            "// pieces = ceil(K / 128)\n"
            "for (i = 0; i < M; i++)\n"
            "  for (piece = 0; piece < pieces; piece++) {\n"
            "    int count = size(columns(i, any of 0b1));\n"
            "    int end = min(count, 128*piece + 128);\n"
            "    for (j = 0; j < N; j++)\n"
            "      for (c = 128*piece; c < end; c++) {\n"
            "        int k = columns(i, any of 0b1)[c];\n"
            "        C[i][j] += A[i][k] * B[k][j];\n"
            "      }\n"
            "  }\n");
}

TEST(PackTasks, ReadsTheNonZerosOfEachTask) {
  EXPECT_EQ(print(packed),
            "for (task = 0; task < tasks; task++) {\n"
            "  int i = Rows[task];\n"
            "  int first = First[task];\n"
            "  int length = Lengths[task];\n"
            "  for (j = 0; j < N; j++)\n"
            "    for (c = 0; c < length; c++) {\n"
            "      int k = Columns[first + c];\n"
            "      C[i][j] += Values[first + c] * B[k][j];\n"
            "    }\n"
            "}\n");
}

TEST(MapTasks, GivesHeavyTasksAWarpAndLightOnesALaneGroup) {
  EXPECT_THAT(print(mapped), HasSubstr("// heavy_blocks = ceil(heavy / 4)\n"
                                       "// light_blocks = ceil((tasks - heavy) / 32)\n"));
  EXPECT_THAT(heavy_part(mapped),
              HasSubstr("grid (block = 0; block < heavy_blocks; block++)  // block = blockIdx.x\n"
                        "  warps (warp = 0; warp < 4; warp++) {  // warp = a digit of threadIdx.x / "
                        "32\n"
                        "    int task = 4*block + warp;\n"
                        "    int i = task < heavy ? Rows[task] : 0;\n"
                        "    int first = task < heavy ? First[task] : 0;\n"
                        "    int length = task < heavy ? Lengths[task] : 0;\n"
                        "    int split = task < heavy ? Splits[task] : 0;\n"));
  EXPECT_THAT(heavy_part(mapped), HasSubstr("atomicAdd(&C[i][j], Values[first + c] * B[k][j]);"));
  EXPECT_THAT(light_part(mapped), HasSubstr("lanes (group = 0; group < 8; group++)"));
  EXPECT_THAT(light_part(mapped), HasSubstr("int task = 32*block + group + heavy + 8*warp;\n"));
  EXPECT_THAT(light_part(mapped), HasSubstr("int length = task < tasks ? Lengths[task] : 0;\n"));
}

TEST(MapTiles, GivesEachLaneConsecutiveColumnsOfATask) {
  for (const std::string& part : {heavy_part(tiled), light_part(tiled)}) {
    EXPECT_THAT(part, HasSubstr("grid (tile = 0; tile < tiles; tile++)"));
    EXPECT_THAT(part, HasSubstr("lanes (lane = 0; lane < 4; lane++)"));
    EXPECT_THAT(part, HasSubstr("int j = 2*lane + 8*tile;\n"));
    EXPECT_THAT(part, HasSubstr("if (j + 1 < N) atomicAdd(&C[i][j + 1], Values[first + c] * B[k][j + 1]);"));
  }
}

TEST(ShareTasks, DealsTheNonZerosOfHeavyTasksAlone) {
  EXPECT_THAT(heavy_part(shared_out), HasSubstr("for (c = group; c < length; c += 8) {\n"));
  EXPECT_EQ(light_part(shared_out), light_part(tiled));
}

TEST(SumTasks, AddsOverGroupsAndStoresWholeRows) {
  const std::string heavy = heavy_part(reduced);
  EXPECT_THAT(heavy, HasSubstr("// lane_sums[4][8][8]: registers of a block\n"));
  EXPECT_THAT(heavy, HasSubstr("lane_sums[warp][group][2*lane + 1] = c0_1;"));
  EXPECT_THAT(heavy, HasSubstr("sum += lane_sums[warp][group][2*lane + v];"));
  EXPECT_THAT(heavy, HasSubstr("if (0 < split && j + v < N) atomicAdd(&C[i][j + v], sum);"));
  EXPECT_THAT(heavy, HasSubstr("if (task < heavy && split < 1 && j + v < N) C[i][j + v] = sum;"));
  const std::string light = light_part(reduced);
  EXPECT_THAT(light, HasSubstr("if (0 < split && j + 1 < N) atomicAdd(&C[i][j + 1], c0_1);"));
  EXPECT_THAT(light, HasSubstr("if (task < tasks && split < 1 && j + 1 < N) C[i][j + 1] = c0_1;"));
  EXPECT_THAT(light, Not(HasSubstr("lane_sums")));
}

TEST(SumTasks, NeedsNoMeetingPlaceForOneGroup) {
  const LoopNest wide = map_tiles(map_tasks(packed, {"task", 1, 1}), {"j", 32, 1});
  const std::string text = print(sum_tasks(share_tasks(wide, {"k", 1, 1}), {}));
  EXPECT_THAT(text, Not(HasSubstr("lane_sums")));
  EXPECT_THAT(text, HasSubstr("if (task < heavy && split < 1 && j < N) C[i][j] = c0_0;"));
}

TEST(UnrollTasks, RepeatsTheLastColumnBehindTheEnd) {
  const std::string heavy = heavy_part(unrolled);
  EXPECT_THAT(heavy, HasSubstr("for (c = group; c < length; c += 16) {\n"));
  EXPECT_THAT(heavy, HasSubstr("int place1 = min(c + 8, length - 1);\n"));
  EXPECT_THAT(heavy, HasSubstr("int k0 = Columns[first + c];\n"));
  EXPECT_THAT(heavy, HasSubstr("int k1 = Columns[first + place1];\n"));
  EXPECT_THAT(heavy, HasSubstr("float a1 = c + 8 < length ? Values[first + c + 8] : 0;\n"));
  EXPECT_THAT(heavy, HasSubstr("c0_1 += a1 * b1_1;\n"));
  EXPECT_THAT(light_part(unrolled), HasSubstr("int place1 = min(c + 1, length - 1);\n"));
}

TEST(RowsPipeline, NamesEveryStepInOrder) {
  std::vector<std::string> names;
  for (const LoweredStep& step : lower_by_steps(spmm_nest(), expand(parse_schedule("rows:task=128")))) {
    names.push_back(step.name);
  }
  EXPECT_THAT(names, testing::ElementsAre("input", "canonicalize", "unroll(i, 1)", "enumerate", "merge()",
                                          "cut(k, 128)", "transform(A, tasks, light=16)",
                                          "map(task, grid, warps=4, groups=4)", "map(j, grid, columns=32, vector=4)",
                                          "split(k, warps=1, groups=4)", "reduce()", "unroll(k, 4)"));
}

TEST(RowsPipeline, TakesEveryLegalSchedule) {
  for (const long long bcol : {6, 128}) {
    const std::vector<RowsSchedule> schedules = legal_rows_schedules(bcol);
    for (std::size_t at = 0; at < schedules.size(); at += 37) {
      EXPECT_NO_THROW(lower(spmm_nest(), expand(schedules[at]))) << print(schedules[at]);
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
        StepRefusal{"cut too early",
                    [] {
                      cut_rows(canonical, {"k", 4});
                    },
                    "there is no loop over merged columns 'k' to cut"},
        StepRefusal{"cut unknown",
                    [] {
                      cut_rows(merged, {"x", 4});
                    },
                    "there is no loop over merged columns 'x' to cut"},
        StepRefusal{"cut twice",
                    [] {
                      cut_rows(cut, {"k", 4});
                    },
                    "and cut once"},
        StepRefusal{"cut panels", cut_pairs_of_rows,
                    "a panel has 2 rows, and only rows can be cut; unroll the row loop by 1"},
        StepRefusal{"cut to nothing",
                    [] {
                      cut_rows(merged, {"k", 0});
                    },
                    "a task of 0 non-zeros is outside 1 to 512; the nearest legal value is 1"},
        StepRefusal{"cut to 513",
                    [] {
                      cut_rows(merged, {"k", 513});
                    },
                    "the nearest legal value is 512"},
        StepRefusal{"pack dense",
                    [] {
                      pack_tasks(cut, {"B", 4});
                    },
                    "'B' is not a sparse array of the nest"},
        StepRefusal{"pack twice",
                    [] {
                      pack_tasks(packed, {"A", 4});
                    },
                    "'A' is not a sparse array of the nest"},
        StepRefusal{"pack too early",
                    [] {
                      pack_tasks(merged, {"A", 4});
                    },
                    "the rows are not cut; cut the rows into tasks first"},
        StepRefusal{"light 0",
                    [] {
                      pack_tasks(cut, {"A", 0});
                    },
                    "light=0 is outside 1 to 512"},
        StepRefusal{"map rows",
                    [] {
                      map_tasks(merged, {"i", 1, 1});
                    },
                    "there is no loop 'i' over tasks to map to the grid"},
        StepRefusal{"map unknown",
                    [] {
                      map_tasks(packed, {"x", 1, 1});
                    },
                    "the loops of the nest are task, j, c"},
        StepRefusal{"17 warps",
                    [] {
                      map_tasks(packed, {"task", 17, 1});
                    },
                    "warps=17 is outside 1 to 16"},
        StepRefusal{"0 groups",
                    [] {
                      map_tasks(packed, {"task", 1, 0});
                    },
                    "groups=0 is outside 1 to 32"},
        StepRefusal{"tiles too early",
                    [] {
                      map_tiles(packed, {"j", 8, 2});
                    },
                    "are not mapped to the grid"},
        StepRefusal{"tiles twice",
                    [] {
                      map_tiles(tiled, {"j", 8, 2});
                    },
                    "there is no column loop 'j'"},
        StepRefusal{"too many lanes",
                    [] {
                      map_tiles(mapped, {"j", 32, 4});
                    },
                    "more than a warp's 32"},
        StepRefusal{"share too early",
                    [] {
                      share_tasks(mapped, {"k", 1, 8});
                    },
                    "the columns of C are not mapped to the grid; map the column loop first"},
        StepRefusal{"share unknown",
                    [] {
                      share_tasks(tiled, {"x", 1, 8});
                    },
                    "no loop over the non-zeros 'x' of a task"},
        StepRefusal{"share among warps",
                    [] {
                      share_tasks(tiled, {"k", 2, 8});
                    },
                    "2 warps cannot share a task; the nearest legal value is warps=1"},
        StepRefusal{"share among too many",
                    [] {
                      share_tasks(tiled, {"k", 1, 16});
                    },
                    "groups=16 of 4 lanes are outside 1 to 8 of a warp; the nearest legal value is groups=8"},
        StepRefusal{"share twice",
                    [] {
                      share_tasks(shared_out, {"k", 1, 8});
                    },
                    "split the reduction loop, once"},
        StepRefusal{"sum too early", [] { sum_tasks(mapped, {}); }, "the columns of C are not mapped to the grid"},
        StepRefusal{"sum twice", [] { sum_tasks(reduced, {}); }, "the sums are already reduced; reduce once"},
        StepRefusal{"unroll too early",
                    [] {
                      unroll_tasks(shared_out, {"k", 2});
                    },
                    "the sums are not reduced"},
        StepRefusal{"unroll unknown",
                    [] {
                      unroll_tasks(reduced, {"x", 2});
                    },
                    "no loop over the non-zeros 'x' to unroll"},
        StepRefusal{"unroll twice",
                    [] {
                      unroll_tasks(unrolled, {"k", 2});
                    },
                    "unroll the reduction loop, once"},
        StepRefusal{"unroll by 9",
                    [] {
                      unroll_tasks(reduced, {"k", 9});
                    },
                    "9 non-zeros at a time are outside 1 to 8; the nearest legal value is 8"}));

}  // namespace
}  // namespace esc
