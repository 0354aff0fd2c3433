// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "generator/ir/build.h"
#include "generator/ir/print.h"
#include "generator/schedule/schedule.h"
#include "tests/support/run_size.h"
#include "tests/unit/panel_nests.h"

namespace esc {
namespace {

using testing::HasSubstr;
using testing::Not;

using namespace panel_nests;

// Must apply: a nest, and what is in the result.

TEST(MergePatterns, LeavesOneLoopOverTheRowsForAnyNonZeroOne) {
  EXPECT_EQ(print(merged),
            "// row_tile_height = 2\n"
            "for (i = 0; i < M; i += 2)\n"
            "  for (j = 0; j < N; j++)\n"
            "    for (k : columns(i, any of 0b11))\n"
            "      for (u = 0; u < row_tile_height; u++)  // unrolled\n"
            "        if (i + u < M) C[i + u][j] += A[i + u][k] * B[k][j];\n");
  EXPECT_TRUE(merged.explicit_zeros);
}

TEST(AssignRowTiles, GivesPanelsToBlocksWarpsAndLanes) {
  const std::string text = print(owned);
  EXPECT_THAT(text, HasSubstr("// blocks = ceil(M / 8)\n"));
  EXPECT_THAT(text, HasSubstr("grid (block = 0; block < blocks; block++)  // block = blockIdx.x\n"
                              "  warps (set = 0; set < block_sets; set++)  // set = a digit of threadIdx.x / 32\n"
                              "    lanes (place = 0; place < warp_row_tiles; place++) {"));
  EXPECT_THAT(text, HasSubstr("unsigned int set_of_grid = set * blocks + block;\n"
                              "      unsigned int tile_slot = set_of_grid * warp_row_tiles + place;\n"
                              "      unsigned int row_tile = tile_slot;\n"
                              "      unsigned int i = row_tile * row_tile_height;\n"
                              "      for (j = 0; j < N; j++)\n"));
  EXPECT_EQ(owned.constant("block_sets"), 2);
  EXPECT_EQ(owned.constant("block_rows"), 8);
}

TEST(TileColumns, GivesEachLaneConsecutiveColumns) {
  const std::string text = print(tiled);
  EXPECT_THAT(text, HasSubstr("// tiles = ceil(N / 8)\n"));
  EXPECT_THAT(text, HasSubstr("  grid (tile = 0; tile < tiles; tile++)  // tile = blockIdx.y\n    warps (set"));
  EXPECT_THAT(text, HasSubstr("lanes (lane = 0; lane < group_lanes; lane++) {"));
  EXPECT_THAT(text, HasSubstr("unsigned int j = tile * tile_columns + lane * vector_width;\n"));
  EXPECT_THAT(text, HasSubstr("for (v = 0; v < vector_width; v++)  // unrolled\n                "
                              "if (i + u < M && j + v < N) C[i + u][j + v] += A[i + u][k] * B[k][j + v];"));
}

TEST(SplitColumns, DealsColumnsInTurnAndAddsAtomically) {
  const std::string text = print(dealt);
  EXPECT_THAT(text, HasSubstr("warps (part = 0; part < row_tile_warps; part++)"));
  EXPECT_THAT(text,
              HasSubstr("lanes (group = 0; group < sharing_groups; group++)  // group = a digit of threadIdx.x % 32\n"
                        "            lanes (lane = 0;"));
  EXPECT_THAT(text, HasSubstr("int count = size(columns(i, any of 0b11));\n"));
  EXPECT_THAT(text, HasSubstr("for (c = group + 4*part; c < count; c += 12) {\n"));
  EXPECT_THAT(text, HasSubstr("unsigned int k = columns(i, any of 0b11)[c];\n"));
  EXPECT_THAT(text, HasSubstr("atomicAdd(&C[i + u][j + v], A[i + u][k] * B[k][j + v]);"));
}

TEST(SplitColumns, AmongOnePartNeedsNoAtomicAdds) {
  EXPECT_THAT(print(split_columns(tiled, {"k", 1, 1})), Not(HasSubstr("atomicAdd")));
}

TEST(AccumulateSums, KeepsSumsInRegistersAndGivesThemToCOnce) {
  const std::string text = print(accumulated);
  EXPECT_THAT(text, HasSubstr("// sums[lane_sums]: registers of a thread\n"));
  EXPECT_THAT(text, HasSubstr("if (i + u < M && j + v < N) sums[2*u + v] += A[i + u][k] * B[k][j + v];"));
  EXPECT_THAT(text, HasSubstr("unsigned int row = i + e / vector_width;\n"));
  EXPECT_THAT(text, HasSubstr("if (row < M && at + w < N) atomicAdd(&C[row][at + w], sums[e + w]);"));
}

TEST(AccumulateSums, StoresWhatOnePartHas) {
  const std::string text = print(accumulate_sums(split_columns(tiled, {"k", 1, 1}), {}));
  EXPECT_THAT(text, HasSubstr("if (row < M && at + w < N) C[row][at + w] = sums[e + w];"));
}

TEST(ShuffleSums, AddsOverLaneGroups) {
  const std::string text = print(shuffled);
  EXPECT_THAT(text, HasSubstr("first_sum = add_groups(sums, group);\n"));
  EXPECT_THAT(text,
              HasSubstr("if (group % copies < 1) {\n                for (e = 0; e < kept_sums; e += stored_width) {"));
  EXPECT_THAT(text, HasSubstr("unsigned int row = i + (e + first_sum) / vector_width;\n"));
  EXPECT_THAT(text, HasSubstr("atomicAdd(&C[row][at + w], sums[e + w]);"));
  EXPECT_EQ(shuffled.constant("kept_sums"), 1);
  EXPECT_EQ(shuffled.constant("copies"), 1);
}

TEST(ShuffleSums, StoresWhatOneWarpHas) {
  const LoopNest warp = shuffle_sums(accumulate_sums(split_columns(tiled, {"k", 1, 4}), {}), {});
  EXPECT_THAT(print(warp), HasSubstr("if (row < M && at + w < N) C[row][at + w] = sums[e + w];"));
  EXPECT_THAT(print(warp), Not(HasSubstr("atomicAdd")));
}

TEST(ShareSums, AddsOverWarpsBehindABarrierAndStoresOnce) {
  const std::string text = print(shared);
  EXPECT_THAT(text, HasSubstr("// shared_sums[row_tile_warps][outputs]: shared memory of a block\n"));
  EXPECT_THAT(text, HasSubstr("shared_sums[part][place_in_block + w] = sums[e + w];"));
  EXPECT_THAT(text, HasSubstr("barrier;  // of the block\n"));
  EXPECT_THAT(text, HasSubstr("total[w] += shared_sums[other][output + w];"));
  EXPECT_THAT(text, HasSubstr("stored_row_tiles[s] = tile_slot_of_store;"));
  EXPECT_THAT(
      text,
      HasSubstr("unsigned int row = stored_row_tiles[s] * row_tile_height + output / tile_columns % row_tile_height;"));
  EXPECT_THAT(text, HasSubstr("if (row < M && at + w < N) C[row][at + w] = total[w];"));
  EXPECT_THAT(text, Not(HasSubstr("atomicAdd")));
}

TEST(PackRegions, ReadsQuadsOfThePanelAtASeat) {
  const std::string text = print(packed);
  EXPECT_THAT(text, HasSubstr("row_tile = row_tile_at(Numbers, tile_slot);\n"));
  EXPECT_THAT(text, HasSubstr("stored_row_tile = row_tile_at(Numbers, tile_slot_of_store);\n"));
  EXPECT_THAT(text, HasSubstr("packets, first_of_row_tile = find_row_tile(Packets, set_of_grid, tile_slot);\n"));
  EXPECT_THAT(text, HasSubstr("for (packet = group + warp_first; packet < packets; packet += cyclic_packets)\n"));
  EXPECT_THAT(text, HasSubstr("unsigned int k = Columns[first_of_row_tile][4*packet + s];\n"));
  EXPECT_THAT(text,
              HasSubstr("if (j + v < N) sums[2*u + v] += Values[first_of_row_tile][4*packet + s][u] * B[k][j + v];"));
  EXPECT_THAT(text, Not(HasSubstr("columns(")));
  EXPECT_THAT(text, Not(HasSubstr("A[i")));
  EXPECT_EQ(packed.packed.kind, PackedForm::Kind::regions);
  EXPECT_EQ(packed.packed.warps, 3);
  EXPECT_EQ(packed.constant("cyclic_packets"), 12);
}

TEST(Vectorize, MovesTheColumnsOfALaneAtOnce) {
  const std::string text = print(vectorized);
  EXPECT_THAT(text, HasSubstr("clamp_columns(columns, j, N);\n"));
  EXPECT_THAT(text, HasSubstr("load_part(part_of_b, B[k], columns);\n"));
  EXPECT_THAT(text, HasSubstr("sums[2*u + v] += Values[first_of_row_tile][4*packet + s][u] * part_of_b[v];"));
  EXPECT_THAT(text, HasSubstr("store_vector(shared_sums[part][place_in_block], sums[e], stored_width);"));
  EXPECT_THAT(text, HasSubstr("add_vector(total[0], shared_sums[other][output], output_width);"));
  EXPECT_THAT(text, HasSubstr("if (row < M) store_columns(C[row][at], total[0], output_width, at < N ? N - at : 0);"));
}

TEST(Vectorize, KeepsTheBoundOfTheRowsThatAreNotPacked) {
  EXPECT_THAT(print(vectorize(shared, {"j"})),
              HasSubstr("if (i + u < M) sums[2*u + v] += A[i + u][k] * part_of_b[v];"));
}

TEST(Vectorize, AddsAtOnceWhereOthersAddToo) {
  EXPECT_THAT(print(vectorize(accumulated, {"j"})),
              HasSubstr("if (row < M) add_columns(C[row][at], sums[e], vector_width, at < N ? N - at : 0);"));
}

TEST(BatchColumns, TakesQuadsInRounds) {
  const std::string text = print(batched);
  EXPECT_THAT(text, HasSubstr("here = find_packet(first_of_row_tile, group + warp_first);\n"));
  EXPECT_THAT(text, HasSubstr("for (packet = warp_first; packet < packets; packet += round_packets) {\n"));
  EXPECT_THAT(text, HasSubstr("clear_packet(current[q]);\n"));
  EXPECT_THAT(text, HasSubstr("if (q * cyclic_packets < left) {\n"));
  EXPECT_THAT(text,
              HasSubstr("load_packet(current[q], Columns, Values, first_of_row_tile, here, q * cyclic_packets, "));
  EXPECT_THAT(text, HasSubstr("here += round_packets;\n                left += -round_packets;\n"));
  EXPECT_THAT(text, HasSubstr("multiply_packet(current[q], B, columns, sums);\n"));
}

TEST(Prefetch, AsksOneIterationEarlier) {
  const std::string text = print(prefetched);
  EXPECT_THAT(text, HasSubstr("registers next = 0;\n"));
  EXPECT_LT(text.find("load_packet(next[q]"), text.find("stored_row_tiles[s] = "));
  EXPECT_LT(text.find("stored_row_tiles[s] = "), text.find("for (packet = warp_first"));
  EXPECT_THAT(text, HasSubstr("current[q] = next[q];\n                  clear_packet(next[q]);\n"));
}

TEST(StageRegions, CopiesTheQuadsOfEachWarpAndReadsTheCopy) {
  const std::string text = print(staged);
  EXPECT_THAT(text, HasSubstr("// StagedColumns[block_copies][staged_steps]: shared memory of a block\n"));
  EXPECT_THAT(
      text,
      HasSubstr("here = stage_packets(Columns, Values, StagedColumns, StagedValues, first_of_row_tile, packets, part, "
                "copy, group);\n"));
  EXPECT_THAT(text, HasSubstr("wait_for_copies();\n              barrier;  // of the warp\n              for (packet"));
  EXPECT_THAT(text, HasSubstr("load_packet(current[q], StagedColumns, StagedValues, copy, here, q * sharing_groups, "));
  EXPECT_THAT(text, Not(HasSubstr("find_packet")));
}

TEST(Overlap, WaitsLateAndTriggersBehindTheWait) {
  const std::string text = print(overlapped);
  const auto trigger = text.find("allow_successor();");
  const auto wait = text.find("wait_for_predecessor();");
  EXPECT_LT(text.find("load_packet(next"), wait);
  EXPECT_LT(wait, trigger);
  EXPECT_LT(trigger, text.find("multiply_packet"));
  const std::string copied = print(overlap(staged, {}));
  EXPECT_LT(copied.find("stage_packets"), copied.find("wait_for_predecessor();"));
  EXPECT_LT(copied.find("wait_for_predecessor();"), copied.find("wait_for_copies();"));
  EXPECT_LT(copied.find("wait_for_copies();"), copied.find("allow_successor();"));
}

/// Staged row tiles with x + bias[i] for each sum x.
LoopNest staged_with_bias(const std::string& schedule) {
  LoopNest nest = spmm_nest();
  nest.arrays.push_back({"bias", {Affine::of("M")}, ArrayRole::operand});
  nest.epilogue =
      Epilogue{{"i", "j"}, "sum", {}, Expression(Name{"sum"}) + Expression(element("bias", {Affine::of("i")}))};
  std::vector<Directive> directives = expand(parse_schedule(schedule));
  directives.insert(directives.end() - 1, PlaceEpilogue{});
  return lower(nest, directives);
}

TEST(PlaceEpilogue, AsksForCopiesBeforeAnythingWaitsForAPanel) {
  const std::string text =
      print(staged_with_bias("panel:ufi=2,columns=32,vector=4,groups=4,warps=8,panels=2,ufk=8,stage=on"));
  const std::size_t copies = text.find("stage_packets(");
  const std::size_t barrier = text.find("barrier;  // of the warp", copies);
  const std::size_t row_tile = text.find("row_tile_at(", copies);
  const std::size_t read = text.find("early_bias_[s] = bias_[row]", copies);
  ASSERT_NE(read, std::string::npos) << text;
  EXPECT_LT(barrier, row_tile) << text;
  EXPECT_LT(row_tile, read) << text;
  EXPECT_LT(read, text.find("wait_for_copies();")) << text;
}

TEST(PlaceEpilogue, ComputesWithoutConditionsFromRegisters) {
  const std::string text =
      print(staged_with_bias("panel:ufi=2,columns=32,vector=4,groups=4,warps=8,panels=2,ufk=8,stage=on"));
  EXPECT_THAT(text, HasSubstr("registers early_bias_ = 0;"));
  EXPECT_THAT(text, Not(HasSubstr("at + w < N")));
}

TEST(PanelPipeline, NamesEveryStepInOrder) {
  std::vector<std::string> names;
  const Schedule schedule = parse_schedule("panel:ufi=2,columns=32,vector=4,groups=4,warps=8,panels=2,ufk=8,stage=on");
  for (const LoweredStep& step : lower_by_steps(spmm_nest(), expand(schedule))) {
    names.push_back(step.name);
  }
  EXPECT_THAT(names,
              testing::ElementsAre("input", "canonicalize", "unroll(i, 2)", "enumerate()", "merge()",
                                   "row_tiles(i, block=2, warp=1)", "tile(j, columns=32, vector=4)",
                                   "split_k(k, warps=8, lane_groups=4)", "accumulate()", "shuffle()", "reduce_warps()",
                                   "transform(A, regions)", "vectorize(j)", "unroll_k(k, 8)", "stage(A)", "pdl()"));
}

TEST(PanelPipeline, TakesLegalSchedules) {
  for (const long long bcol : {6, 128}) {
    for (const PanelSchedule& schedule : tests::drawn_of(legal_panel_schedules(bcol), 50)) {
      EXPECT_NO_THROW(lower(spmm_nest(), expand(schedule))) << print(schedule);
    }
  }
}

}  // namespace
}  // namespace esc
