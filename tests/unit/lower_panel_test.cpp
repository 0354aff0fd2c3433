#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "generator/ir/print.h"
#include "generator/schedule/schedule.h"
#include "tests/unit/panel_nests.h"

namespace esc {
namespace {

using testing::HasSubstr;
using testing::Not;

using namespace panel_nests;

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

}  // namespace
}  // namespace esc
