#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "generator/ir/print.h"
#include "generator/lower/canonicalize.h"
#include "generator/lower/enumerate.h"
#include "generator/lower/map_blocks.h"
#include "generator/lower/map_panels.h"
#include "generator/lower/map_tiles.h"
#include "generator/lower/merge_patterns.h"
#include "generator/lower/pack_regions.h"
#include "generator/lower/reduce_sums.h"
#include "generator/lower/split_columns.h"
#include "generator/lower/stage_regions.h"
#include "generator/lower/unroll.h"
#include "generator/lower/unroll_steps.h"
#include "generator/pipeline.h"
#include "generator/schedule/schedule.h"

namespace esc {
namespace {

using testing::HasSubstr;
using testing::Not;

const LoopNest canonical = canonicalize(spmm_nest());
const LoopNest enumerated = enumerate(unroll(canonical, {"i", 2}), std::nullopt);
const LoopNest merged = merge_patterns(enumerated, {});
const LoopNest on_panels = map_panels(merged, {"i", 4, 2});
const LoopNest on_tiles = map_tiles(on_panels, {"j", 8, 2});
const LoopNest shared_out = split_columns(on_tiles, {"k", 3, 4});
const LoopNest reduced = reduce_sums(shared_out, {});
const LoopNest packed = pack_regions(reduced, {"A", 4});
const LoopNest stepped = unroll_steps(packed, {"k", 2});
const LoopNest staged = stage_regions(stepped, {"A"});

// Must apply: a nest, and what stands in the result.

TEST(MergePatterns, LeavesOneSetOfUpdatesForAnyNonZeroRow) {
  EXPECT_EQ(print(merged),
            "for (i = 0; i < M; i += 2)\n"
            "  for (j = 0; j < N; j++)\n"
            "    for (k : columns(i, any of 0b11)) {\n"
            "      C[i][j] += A[i][k] * B[k][j];\n"
            "      if (i + 1 < M) C[i + 1][j] += A[i + 1][k] * B[k][j];\n"
            "    }\n");
}

TEST(MapPanels, GivesPanelsToBlocksWarpsAndLanes) {
  EXPECT_EQ(print(on_panels),
            "// blocks = ceil(M / 8)\n"
            "grid (block = 0; block < blocks; block++)  // block = blockIdx.x\n"
            "  warps (set = 0; set < 2; set++)  // set = a digit of threadIdx.x / 32\n"
            "    lanes (panel = 0; panel < 2; panel++) {  // panel = a digit of threadIdx.x % 32\n"
            "      int i = 8*block + 2*panel + 4*set;\n"
            "      for (j = 0; j < N; j++)\n"
            "        for (k : columns(i, any of 0b11)) {\n"
            "          if (i < M) C[i][j] += A[i][k] * B[k][j];\n"
            "          if (i + 1 < M) C[i + 1][j] += A[i + 1][k] * B[k][j];\n"
            "        }\n"
            "    }\n");
}

TEST(MapPanels, NeedsNoThreadsForOnePanel) {
  const std::string text = print(map_panels(merged, {"i", 1, 1}));
  EXPECT_THAT(text,
              HasSubstr("grid (block = 0; block < blocks; block++) {  // block = blockIdx.x\n  int i = 2*block;\n"));
  EXPECT_THAT(text, Not(HasSubstr("threadIdx")));
}

TEST(MapTiles, GivesEachLaneConsecutiveColumns) {
  const std::string text = print(on_tiles);
  EXPECT_THAT(text, HasSubstr("// tiles = ceil(N / 8)\n"));
  EXPECT_THAT(text, HasSubstr("  grid (tile = 0; tile < tiles; tile++)  // tile = blockIdx.y\n    warps (set"));
  EXPECT_THAT(text, HasSubstr("lanes (lane = 0; lane < 4; lane++) {"));
  EXPECT_THAT(text, HasSubstr("int j = 2*lane + 8*tile;\n"));
  EXPECT_THAT(text, HasSubstr("if (i + 1 < M && j + 1 < N) C[i + 1][j + 1] += A[i + 1][k] * B[k][j + 1];"));
}

TEST(SplitColumns, DealsColumnsInTurnAndAddsAtomically) {
  const std::string text = print(shared_out);
  EXPECT_THAT(text, HasSubstr("warps (set = 0; set < 2; set++)  // set = a digit of threadIdx.x / 32\n"
                              "      warps (warp = 0; warp < 3; warp++)"));
  EXPECT_THAT(text, HasSubstr("lanes (group = 0; group < 4; group++)  // group = a digit of threadIdx.x % 32\n"
                              "            lanes (lane = 0;"));
  EXPECT_THAT(text, HasSubstr("int count = size(columns(i, any of 0b11));\n"));
  EXPECT_THAT(text, HasSubstr("for (c = group + 4*warp; c < count; c += 12) {\n"));
  EXPECT_THAT(text, HasSubstr("int k = columns(i, any of 0b11)[c];\n"));
  EXPECT_THAT(text, HasSubstr("if (i < M && j < N) atomicAdd(&C[i][j], A[i][k] * B[k][j]);"));
}

TEST(SplitColumns, AmongOnePartNeedsNoAtomicAdds) {
  EXPECT_THAT(print(split_columns(on_tiles, {"k", 1, 1})), Not(HasSubstr("atomicAdd")));
}

TEST(ReduceSums, AddsOverGroupsThenOverWarpsAndStoresOnce) {
  const std::string text = print(reduced);
  EXPECT_THAT(text, HasSubstr("// lane_sums[2][3][2][4][2][8]: registers of a block\n"
                              "// warp_sums[2][3][2][2][8]: shared memory of a block\n"));
  EXPECT_THAT(text, HasSubstr("if (i + 1 < M && j < N) c1_0 += A[i + 1][k] * B[k][j];"));
  EXPECT_THAT(text, HasSubstr("lane_sums[set][warp][panel][group][1][2*lane] = c1_0;"));
  EXPECT_THAT(text, HasSubstr("sum += lane_sums[set][warp][panel][group][u][2*lane + v];"));
  EXPECT_THAT(text, HasSubstr("warp_sums[set][warp][panel][u][2*lane + v] = sum;"));
  EXPECT_THAT(text, HasSubstr("sum += warp_sums[set][warp][panel][u][2*lane + v];"));
  EXPECT_THAT(text, HasSubstr("if (i + u < M && j + v < N) C[i + u][j + v] = sum;"));
  EXPECT_THAT(text, Not(HasSubstr("atomicAdd")));
}

TEST(ReduceSums, NeedsOnlyThePlacesWhereSeveralPartsMeet) {
  const std::string warps = print(reduce_sums(split_columns(on_tiles, {"k", 2, 1}), {}));
  EXPECT_THAT(warps, Not(HasSubstr("lane_sums")));
  EXPECT_THAT(warps, HasSubstr("warp_sums[set][warp][panel][0][2*lane] = c0_0;"));
  const std::string groups = print(reduce_sums(split_columns(on_tiles, {"k", 1, 2}), {}));
  EXPECT_THAT(groups, Not(HasSubstr("warp_sums")));
  EXPECT_THAT(groups, HasSubstr("sum += lane_sums[set][panel][group][u][2*lane + v];"));
  const std::string none = print(reduce_sums(split_columns(on_tiles, {"k", 1, 1}), {}));
  EXPECT_THAT(none, Not(HasSubstr("_sums")));
  EXPECT_THAT(none, HasSubstr("if (i + 1 < M && j < N) C[i + 1][j] = c1_0;"));
}

TEST(PackRegions, ReadsColumnsAndValuesOfTheWarpsRegion) {
  const std::string text = print(packed);
  EXPECT_THAT(text, HasSubstr("int region = 6*block + 3*set + warp;\n"));
  EXPECT_THAT(text, HasSubstr("int steps = Steps[region];\n"));
  EXPECT_THAT(text, HasSubstr("for (step = 0; step < steps; step++) {  // steps = a multiple of 4\n"));
  EXPECT_THAT(text, HasSubstr("int k = Columns[region][step][group + 4*panel];\n"));
  EXPECT_THAT(text, HasSubstr("if (j + 1 < N) c1_1 += Values[region][step][group + 4*panel][1] * B[k][j + 1];"));
  EXPECT_THAT(text, Not(HasSubstr("columns(")));
  EXPECT_THAT(text, Not(HasSubstr("A[i")));
}

TEST(PackRegions, KeepsTheFirstRowOnlyWhereSomethingNeedsIt) {
  EXPECT_THAT(print(packed), HasSubstr("{  // lane = a digit of threadIdx.x % 32\n              int region"));
  const LoopNest single = reduce_sums(split_columns(on_tiles, {"k", 1, 1}), {});
  EXPECT_THAT(print(pack_regions(single, {"A", 4})),
              HasSubstr("int region = 2*block + set;\n          int i = 8*block"));
}

TEST(UnrollSteps, LoadsBeforeItMultiplies) {
  const std::string text = print(stepped);
  EXPECT_THAT(text, HasSubstr("for (step = 0; step < steps; step += 2) {"));
  EXPECT_THAT(text, HasSubstr("int k1 = Columns[region][step + 1][group + 4*panel];\n                float b0_0 = j < "
                              "N ? B[k0][j] : 0;\n"));
  EXPECT_THAT(text, HasSubstr("float b1_1 = j + 1 < N ? B[k1][j + 1] : 0;\n                c0_0 += "));
  EXPECT_THAT(text, HasSubstr("c1_1 += Values[region][step + 1][group + 4*panel][1] * b1_1;"));
}

TEST(StageRegions, CopiesTheRegionOfEachWarpAndReadsTheCopy) {
  const std::string text = print(staged);
  EXPECT_THAT(text, HasSubstr("// StagedColumns[2][3][most_steps][8]: shared memory of a block\n"));
  EXPECT_THAT(text, HasSubstr("if (lane < 1) StagedSteps[set][warp] = Steps[region];\n"));
  EXPECT_THAT(text, HasSubstr("for (step = lane; step < steps; step += 32)\n"));
  EXPECT_THAT(text, HasSubstr("StagedValues[set][warp][step][group][u] = Values[region][step][group][u];\n"));
  EXPECT_THAT(text, HasSubstr("int steps = StagedSteps[set][warp];\n"));
  EXPECT_THAT(text, HasSubstr("c0_0 += StagedValues[set][warp][step][group + 4*panel][0] * b0_0;"));
}

TEST(StageRegions, MayStandBeforeTheStepsAreUnrolled) {
  EXPECT_EQ(unroll_steps(stage_regions(packed, {"A"}), {"k", 2}), staged);
}

TEST(PanelPipeline, NamesEveryStepInOrder) {
  std::vector<std::string> names;
  const Schedule schedule = parse_schedule("panel:ufi=2,columns=32,vector=4,groups=4,warps=8,panels=2,ufk=8,stage=on");
  for (const LoweredStep& step : lower_by_steps(spmm_nest(), expand(schedule))) {
    names.push_back(step.name);
  }
  EXPECT_THAT(names, testing::ElementsAre("input", "canonicalize", "unroll(i, 2)", "enumerate", "merge()",
                                          "map(i, grid, panels=2, warp=1)", "map(j, grid, columns=32, vector=4)",
                                          "split(k, warps=8, groups=4)", "reduce()", "transform(A, regions, 8)",
                                          "unroll(k, 8)", "stage(A)"));
}

TEST(PanelPipeline, TakesEveryLegalSchedule) {
  for (const long long bcol : {6, 128}) {
    const std::vector<PanelSchedule> schedules = legal_panel_schedules(bcol);
    for (std::size_t at = 0; at < schedules.size(); at += 37) {
      EXPECT_NO_THROW(lower(spmm_nest(), expand(schedules[at]))) << print(schedules[at]);
    }
  }
}

// Must refuse: a step, and words of the reason.

struct Refusal {
  const char* what;
  std::function<void()> step;
  const char* words;
};

class RefusedPanelStep : public testing::TestWithParam<Refusal> {};

TEST_P(RefusedPanelStep, SaysWhy) {
  try {
    GetParam().step();
    FAIL() << GetParam().what << " was accepted";
  } catch (const ScheduleError& error) {
    EXPECT_THAT(error.what(), HasSubstr(GetParam().words));
  }
}

const std::vector<Pattern> one_pattern{{0b11, 2}};

INSTANTIATE_TEST_SUITE_P(
    Table, RefusedPanelStep,
    testing::Values(
        Refusal{"merge too early", [] { merge_patterns(canonical, {}); },
                "merge(): the columns of the panels are not enumerated; unroll the row loop and enumerate its patterns "
                "first"},
        Refusal{"merge twice", [] { merge_patterns(merged, {}); }, "are not enumerated"},
        Refusal{"merge one of three",
                [] {
                  merge_patterns(enumerate(unroll(canonical, {"i", 2}), one_pattern), {});
                },
                "only 1 of 3 patterns are enumerated; enumerate all patterns: the union leaves none out"},
        Refusal{"panels unknown",
                [] {
                  map_panels(merged, {"x", 1, 1});
                },
                "no row loop 'x' to map to the grid; the loops of the nest are i, j"},
        Refusal{"panels of columns",
                [] {
                  map_panels(merged, {"j", 1, 1});
                },
                "no row loop 'j'"},
        Refusal{"panels too early",
                [] {
                  map_panels(enumerated, {"i", 1, 1});
                },
                "the patterns under loop 'i' are not merged; unroll the row loop and merge its patterns first"},
        Refusal{"panels twice",
                [] {
                  map_panels(on_panels, {"i", 1, 1});
                },
                "no row loop 'i'"},
        Refusal{"0 panels",
                [] {
                  map_panels(merged, {"i", 0, 1});
                },
                "panels=0 is outside 1 to 128; the nearest legal value is 1"},
        Refusal{"129 panels",
                [] {
                  map_panels(merged, {"i", 129, 1});
                },
                "the nearest legal value is 128"},
        Refusal{"0 in a warp",
                [] {
                  map_panels(merged, {"i", 4, 0});
                },
                "warp=0 is outside 1 to 32; the nearest legal value is 1"},
        Refusal{"33 in a warp",
                [] {
                  map_panels(merged, {"i", 66, 33});
                },
                "the nearest legal value is 32"},
        Refusal{"5 panels by 2",
                [] {
                  map_panels(merged, {"i", 5, 2});
                },
                "panels=5 is no multiple of warp=2; the nearest legal value is 4"},
        Refusal{"1 panel by 2",
                [] {
                  map_panels(merged, {"i", 1, 2});
                },
                "the nearest legal value is 2"},
        Refusal{"17 warps",
                [] {
                  map_panels(merged, {"i", 34, 2});
                },
                "a block of 17 warps is more than 16; the nearest legal value is 32"},
        Refusal{"tiles too early",
                [] {
                  map_tiles(merged, {"j", 32, 4});
                },
                "the panels are not mapped to the grid; map the row loop first"},
        Refusal{"tiles of a block per pattern",
                [] {
                  map_tiles(map_blocks(enumerated, {"i"}), {"j", 32, 4});
                },
                "there is no column loop 'j'"},
        Refusal{"tiles unknown",
                [] {
                  map_tiles(on_panels, {"x", 32, 4});
                },
                "there is no column loop 'x' to map to the grid; the loops of the nest are block, set, panel, j"},
        Refusal{"tiles twice",
                [] {
                  map_tiles(on_tiles, {"j", 32, 4});
                },
                "there is no column loop 'j'"},
        Refusal{"0 columns",
                [] {
                  map_tiles(on_panels, {"j", 0, 1});
                },
                "columns=0 is outside 1 to 128; the nearest legal value is 1"},
        Refusal{"256 columns",
                [] {
                  map_tiles(on_panels, {"j", 256, 4});
                },
                "the nearest legal value is 128"},
        Refusal{"vector 8",
                [] {
                  map_tiles(on_panels, {"j", 32, 8});
                },
                "vector=8 is outside 1 to 4; the nearest legal value is 4"},
        Refusal{"vector 4 of 6",
                [] {
                  map_tiles(on_panels, {"j", 6, 4});
                },
                "vector=4 does not divide columns=6; the nearest legal value is 2"},
        Refusal{"too many lanes",
                [] {
                  map_tiles(on_panels, {"j", 128, 4});
                },
                "32 lanes for each of 2 panels are more than a warp's 32; the nearest legal value is columns=64"},
        Refusal{"split too early",
                [] {
                  split_columns(on_panels, {"k", 1, 1});
                },
                "the columns of C are not mapped to the grid; map the column loop first"},
        Refusal{"split unmapped",
                [] {
                  split_columns(merged, {"k", 1, 1});
                },
                "the panels are not mapped to the grid"},
        Refusal{"split unknown",
                [] {
                  split_columns(on_tiles, {"x", 1, 1});
                },
                "there is no loop over enumerated columns 'x'; split the reduction loop, once"},
        Refusal{"split twice",
                [] {
                  split_columns(shared_out, {"k", 1, 1});
                },
                "no loop over enumerated columns 'k'"},
        Refusal{"0 warps",
                [] {
                  split_columns(on_tiles, {"k", 0, 1});
                },
                "warps=0 is outside 1 to 8 of 16 warps; the nearest legal value is 1"},
        Refusal{"too many warps",
                [] {
                  split_columns(on_tiles, {"k", 16, 1});
                },
                "warps=16 is outside 1 to 8 of 16 warps; the nearest legal value is 8"},
        Refusal{"too many groups",
                [] {
                  split_columns(on_tiles, {"k", 1, 8});
                },
                "groups=8 is outside 1 to 4 of 32 lanes; the nearest legal value is 4"},
        Refusal{"reduce unmapped", [] { reduce_sums(merged, {}); }, "reduce(): the panels are not mapped to the grid"},
        Refusal{"reduce too early", [] { reduce_sums(on_tiles, {}); },
                "the columns of the panels are not split; split the reduction loop first"},
        Refusal{"reduce twice", [] { reduce_sums(reduced, {}); }, "the sums are already reduced; reduce once"},
        Refusal{"pack dense",
                [] {
                  pack_regions(reduced, {"B", 4});
                },
                "'B' is not a sparse array of the nest"},
        Refusal{"pack twice",
                [] {
                  pack_regions(packed, {"A", 4});
                },
                "'A' is not a sparse array of the nest"},
        Refusal{"pack 0",
                [] {
                  pack_regions(reduced, {"A", 0});
                },
                "a multiple of 0 is outside 1 to 8; the nearest legal value is 1"},
        Refusal{"pack 9",
                [] {
                  pack_regions(reduced, {"A", 9});
                },
                "the nearest legal value is 8"},
        Refusal{"pack unmapped",
                [] {
                  pack_regions(merged, {"A", 4});
                },
                "the panels are not mapped to the grid"},
        Refusal{"pack unsplit",
                [] {
                  pack_regions(on_tiles, {"A", 4});
                },
                "the sums are not reduced; split the reduction loop and reduce its sums first"},
        Refusal{"pack too early",
                [] {
                  pack_regions(shared_out, {"A", 4});
                },
                "the sums are not reduced"},
        Refusal{"steps too early",
                [] {
                  unroll_steps(reduced, {"k", 4});
                },
                "the sparse array is not stored in regions; transform it into regions first"},
        Refusal{"steps unknown",
                [] {
                  unroll_steps(packed, {"x", 4});
                },
                "there is no loop over columns 'x' to unroll"},
        Refusal{"steps twice",
                [] {
                  unroll_steps(stepped, {"k", 2});
                },
                "there is no loop over columns 'k' to unroll; unroll the reduction loop, once"},
        Refusal{"steps by 0",
                [] {
                  unroll_steps(packed, {"k", 0});
                },
                "the nearest legal value is 1"},
        Refusal{"steps by 3",
                [] {
                  unroll_steps(packed, {"k", 3});
                },
                "the steps of a region are a multiple of 4, not of 3; the nearest legal value is 1"},
        Refusal{"steps by 8",
                [] {
                  unroll_steps(packed, {"k", 8});
                },
                "the nearest legal value is 4"},
        Refusal{"stage too early", [] { stage_regions(reduced, {"A"}); },
                "'A' is not stored in regions; transform the sparse array into regions first"},
        Refusal{"stage dense", [] { stage_regions(packed, {"B"}); }, "'B' is not stored in regions"},
        Refusal{"stage twice", [] { stage_regions(staged, {"A"}); }, "'A' is already staged; stage once"}));

}  // namespace
}  // namespace esc
