// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "generator/ir/build.h"
#include "generator/ir/linear_nk_nest.h"
#include "generator/ir/print.h"
#include "generator/lower/canonicalize.h"
#include "generator/lower/cluster_turns.h"
#include "generator/lower/copy_in_bulk.h"
#include "generator/lower/enumerate.h"
#include "generator/lower/fragment_columns.h"
#include "generator/lower/merge_patterns.h"
#include "generator/lower/overlap.h"
#include "generator/lower/own_panels.h"
#include "generator/lower/pack_fragments.h"
#include "generator/lower/pipeline_windows.h"
#include "generator/lower/place_epilogue.h"
#include "generator/lower/quarter_steps.h"
#include "generator/lower/stage_regions.h"
#include "generator/lower/stream_windows.h"
#include "generator/lower/tile_columns.h"
#include "generator/lower/unroll.h"
#include "generator/lower/vectorize.h"
#include "generator/pipeline.h"
#include "generator/schedule/schedule.h"
#include "generator/schedule/schedule_choice.h"
#include "tests/unit/refused_step.h"

namespace esc {
namespace {

using testing::HasSubstr;
using testing::Not;

const LoopNest canonical = canonicalize(spmm_nest(ScalarType::f16));
const LoopNest streamed = stream_windows(canonical, {"i", 2, 2});
const LoopNest fragmented = fragment_columns(streamed, {"j", 16});
const LoopNest packed = pack_fragments(fragmented, {"A"});
const LoopNest pipelined = pipeline_windows(packed, {"k", 3});
const LoopNest bulk = copy_in_bulk(pipelined, {});
const LoopNest clustered = cluster_turns(bulk, {"k", 4});
const LoopNest of_tokens = pack_fragments(
    fragment_columns(stream_windows(canonicalize(linear_nk_nest(ScalarType::f16)), {"i", 2, 2}), {"j", 16}), {"A"});
const LoopNest finished = place_epilogue(pipelined, {});

// Must apply: a nest, and what stands in the result.

TEST(Canonicalize, OfHalvesHasAnEpilogueThatOnlyRounds) {
  EXPECT_THAT(print(canonical), testing::EndsWith("for (i = 0; i < M; i++)\n"
                                                  "  for (j = 0; j < N; j++) {\n"
                                                  "    float sum_ = C[i][j];\n"
                                                  "    C[i][j] = sum_;\n"
                                                  "  }\n"));
  EXPECT_FALSE(canonicalize(spmm_nest(ScalarType::f64)).epilogue.has_value());
}

TEST(StreamWindows, GivesPanelsToBlocksAndWindowsToWarps) {
  EXPECT_THAT(
      print(streamed),
      HasSubstr("grid (block = 0; block < blocks; block++)  // block = blockIdx.x\n"
                "  warps (part = 0; part < turn_windows; part++)  // part = a digit of threadIdx.x / 32\n"
                "    warps (place = 0; place < block_panels; place++) {  // place = a digit of threadIdx.x / 32\n"
                "      unsigned int panel = block * block_panels + place;\n"
                "      for (window = part; window < windows; window += turn_windows)\n"
                "        for (slot = 0; slot < window_columns; slot++) {\n"
                "          unsigned int k = window * window_columns + slot;\n"
                "          for (u = 0; u < panel_height; u++) {\n"
                "            unsigned int i = panel * panel_height + u;\n"
                "            for (j = 0; j < N; j++)\n"
                "              if (i < M && k < K && A[i][k] != 0) atomicAdd(&C[i][j], A[i][k] * B[k][j]);\n"));
  EXPECT_THAT(print(streamed), HasSubstr("// blocks = ceil(M / 32)\n// windows = ceil(K / 256)\n"));
  EXPECT_EQ(streamed.zeroed, Zeroed::output);
}

TEST(StreamWindows, MaySharePanelsOf32RowsAndWindows) {
  const LoopNest shared = stream_windows(canonical, {"i", 2, 4, 32, 2});
  EXPECT_THAT(print(shared), HasSubstr("// blocks = ceil(M / 64)\n"));
  EXPECT_THAT(print(shared), HasSubstr("warps (member = 0; member < window_warps; member++)"));
  EXPECT_THAT(print(shared), HasSubstr("for (slot = member; slot < window_columns; slot += window_warps) {\n"));
  const std::string text =
      print(pipeline_windows(pack_fragments(fragment_columns(shared, {"j", 16}), {"A"}), {"k", 3}));
  EXPECT_THAT(text, HasSubstr("if (0 < member * turn_windows + part) {\n")) << "whose sums these are";
  EXPECT_THAT(
      text,
      HasSubstr("step + member * chained_steps, step + member * chained_steps + chained_steps, 0, column_eighths, "))
      << "a pair of steps for each that shares it";
  EXPECT_THAT(text, HasSubstr("step_left, unit_steps, column_eighths * member / window_warps, column_eighths * (member "
                              "+ 1) / window_warps, "))
      << "or a part of the columns";
  EXPECT_THAT(text, HasSubstr("if (member < 1) stage_unit(")) << "once for all that share it";
}

TEST(StreamWindows, OfOneWarpSharesNoElementOfC) {
  EXPECT_THAT(print(stream_windows(canonical, {"i", 2, 1})), HasSubstr("A[i][k] != 0) C[i][j] += A[i][k] * B[k][j];"));
}

TEST(FragmentColumns, GivesLanesTheSumsOfTheTensorCore) {
  const std::string text = print(fragmented);
  EXPECT_THAT(text, HasSubstr("unsigned int i = panel * panel_height + e % lane_rows * row_sets + row_set;\n"));
  EXPECT_THAT(text, HasSubstr("unsigned int j = tile * tile_columns + e / lane_rows * 8 + 2*pair;\n"));
  EXPECT_THAT(text,
              HasSubstr("if (j + v < N && i < M && k < K && A[i][k] != 0) sums[2*e + v] += A[i][k] * B[k][j + v];"));
  EXPECT_THAT(text, HasSubstr("if (i < M) store_columns(C[i][j], sums[2*e], 2, j < N ? N - j : 0);"));
  EXPECT_EQ(fragmented.zeroed, Zeroed::nothing);
  EXPECT_EQ(fragmented.find_array("sums")->type, ScalarType::f32);
}

TEST(FragmentColumns, AddsTheSumsOfThePanelsWarps) {
  EXPECT_THAT(print(fragmented), HasSubstr("add_vector(sums[4*t], partial_sums[other][place_of_lane + 128*t], 4);"));
  const std::string alone = print(fragment_columns(stream_windows(canonical, {"i", 2, 1}), {"j", 16}));
  EXPECT_THAT(alone, Not(HasSubstr("partial_sums")));
  EXPECT_THAT(alone, Not(HasSubstr("barrier")));
}

TEST(FragmentColumns, DealsTheProductsOfOneColumnToFourLanes) {
  const LoopNest one = fragment_columns(streamed, {"j", 1});
  const std::string text = print(one);
  EXPECT_THAT(text, HasSubstr("for (slot = pair; slot < window_columns; slot += column_pairs) {\n"));
  EXPECT_THAT(text, HasSubstr("unsigned int j = tile * tile_columns;\n"));
  EXPECT_THAT(text,
              HasSubstr("if (j + v < N && i < M && k < K && A[i][k] != 0) sums[2*e + v] += A[i][k] * B[k][j + v];"));
  EXPECT_THAT(text, HasSubstr("add_lanes(sums, pair);\n"));
  EXPECT_THAT(text, HasSubstr("if (i < M && pair < 1) store_columns(C[i][j], sums[2*e], 1, j < N ? N - j : 0);"));
  EXPECT_EQ(one.constant("lane_sums"), fragment_columns(streamed, {"j", 8}).constant("lane_sums"))
      << "the tensor core multiplies 8 columns";
}

TEST(PackFragments, MultipliesTheStepsOfOneColumn) {
  const std::string text = print(pack_fragments(fragment_columns(streamed, {"j", 1}), {"A"}));
  EXPECT_THAT(text, HasSubstr("multiply_column_steps("));
  EXPECT_THAT(text, HasSubstr("add_column_extras("));
}

TEST(PipelineWindows, CopiesOneColumnAsItLiesInEitherLayout) {
  for (const LoopNest& nest : {canonical, canonicalize(linear_nk_nest(ScalarType::f16))}) {
    const std::string text = print(pipeline_windows(
        pack_fragments(fragment_columns(stream_windows(nest, {"i", 2, 2}), {"j", 1}), {"A"}), {"k", 3}));
    EXPECT_THAT(text, HasSubstr("stage_columns("));
    EXPECT_THAT(text, Not(HasSubstr("store_held(")));
    EXPECT_THAT(text, Not(HasSubstr("transpose_window(")));
  }
}

TEST(PackFragments, MultipliesUnitsOfRounds) {
  const std::string text = print(packed);
  EXPECT_THAT(text, HasSubstr("first_round, rounds = find_rounds(FirstRounds, block);\n"));
  EXPECT_THAT(text, HasSubstr("unsigned int rotation = block * rounds / blocks;\n"));
  EXPECT_THAT(text, HasSubstr("window = window_at(Windows, round, first_round);\n"));
  EXPECT_THAT(text, HasSubstr("multiply_steps(Slots[round][place], Values[round][place], step, unit_steps, 0, "
                              "column_eighths, B, window * window_columns, "
                              "tile * tile_columns, N, row_set, pair, sums, 0, 0, part, place);\n"));
  EXPECT_THAT(text, HasSubstr("add_extras(first_extra, behind_extras, ExtraSlots[round][place], "
                              "ExtraRows[round][place], ExtraValues[round][place], B, "));
  EXPECT_THAT(text, Not(HasSubstr("A[i]")));
  EXPECT_EQ(packed.packed.kind, PackedForm::Kind::fragments);
  EXPECT_EQ(packed.packed.height, 16);
  EXPECT_EQ(packed.packed.block_panels, 2);
}

TEST(PackDense, MultipliesConsecutiveColumnsAndNothingBesideThem) {
  const LoopNest of_floats =
      fragment_columns(stream_windows(canonicalize(spmm_nest(ScalarType::f32)), {"i", 2, 2}), {"j", 16});
  const LoopNest dense = pack_dense(of_floats, {"A"});
  const std::string text = print(dense);
  EXPECT_THAT(text, HasSubstr("multiply_split_dense_steps(Slots[round][place], Values[round][place], step, unit_steps, "
                              "0, column_eighths, B, window * window_columns, "
                              "tile * tile_columns, N, row_set, pair, sums, 0, 0, part, place);\n"));
  EXPECT_THAT(text, Not(HasSubstr("extras(")));
  EXPECT_EQ(dense.constant("step_slots"), 8);
  EXPECT_EQ(dense.constant("chained_steps") * dense.constant("step_slots"), 32)
      << "as many columns as two steps of the sparse tensor core";
  EXPECT_TRUE(dense.packed.dense_steps);
  EXPECT_FALSE(pack_fragments(of_floats, {"A"}).packed.dense_steps);
  const LoopNest rounded =
      fragment_columns(stream_windows(canonicalize(spmm_nest(ScalarType::tf32)), {"i", 2, 2}), {"j", 16});
  EXPECT_THAT(print(pack_dense(rounded, {"A"})), HasSubstr("multiply_rounded_dense_steps("));
  EXPECT_THAT([] { pack_dense(fragmented, {"A"}); },
              ThrowsMessage<ScheduleError>(HasSubstr("transform(A, dense): of 16 bits")));
}

TEST(PackListed, MultipliesConsecutiveColumnsOfEveryType) {
  const auto fragments_of = [](ScalarType element) {
    return fragment_columns(stream_windows(canonicalize(spmm_nest(element)), {"i", 2, 2}), {"j", 16});
  };
  const LoopNest listed = pack_listed(fragmented, {"A"});
  const std::string text = print(listed);
  EXPECT_THAT(text, HasSubstr("multiply_dense_steps(Slots[round][place], Values[round][place], step, unit_steps, 0, "
                              "column_eighths, B, window * window_columns, "
                              "tile * tile_columns, N, row_set, pair, sums, 0, 0, part, place);\n"));
  EXPECT_THAT(text, Not(HasSubstr("extras(")));
  EXPECT_EQ(listed.constant("step_slots"), 16);
  EXPECT_EQ(listed.constant("chained_steps"), 2);
  EXPECT_TRUE(listed.packed.dense_steps && listed.packed.listed_values);
  EXPECT_THAT(print(pipeline_windows(listed, {"k", 3})), HasSubstr("multiply_dense_steps(StagedSlots[stage][copy], "));
  const LoopNest of_floats = pack_listed(fragments_of(ScalarType::f32), {"A"});
  EXPECT_THAT(print(of_floats), HasSubstr("multiply_split_dense_steps("));
  EXPECT_EQ(of_floats.constant("step_slots"), 8);
  EXPECT_EQ(of_floats.constant("chained_steps"), 4);
  EXPECT_FALSE(pack_dense(fragments_of(ScalarType::f32), {"A"}).packed.listed_values);
  EXPECT_THAT(print(pack_listed(fragments_of(ScalarType::tf32), {"A"})), HasSubstr("multiply_rounded_dense_steps("));
}

TEST(PipelineWindows, CopiesBothOperandsAheadOfTheirUse) {
  const std::string text = print(pipelined);
  EXPECT_THAT(text, HasSubstr("wait_for_stage(early_stages - 1);\n              barrier;  // of the team\n"));
  EXPECT_THAT(text, HasSubstr("unsigned int ahead = early_stages + turn;\n"));
  EXPECT_THAT(text, HasSubstr("stage_windows(held, B, Windows, StagedB, first_round, rounds, rotation, ahead, "
                              "stage_ahead, part, tile, team_thread, K, N);\n"));
  EXPECT_THAT(text, HasSubstr("multiply_steps(StagedSlots[stage][copy], StagedValues[stage][copy], step, unit_steps, "
                              "0, column_eighths, StagedB[stage][part], 0, 0, "
                              "tile_columns, row_set, pair, sums, stage, stage, part, place);\n"));
  EXPECT_THAT(text, Not(HasSubstr("window_at")));
}

/// Rows that are no whole vectors have a turn to come to a thread's registers, as far as these have room.
TEST(PipelineWindows, StoresWhatItHoldsInFrontOfTheBarrierOfTheNextTurn) {
  const std::string text = print(pipelined);
  EXPECT_THAT(text, HasSubstr("registers held;\n"));
  EXPECT_THAT(text, HasSubstr("if (0 < s) store_held(held, rounds, s - 1, s - 1, part, team_thread);\n"));
  EXPECT_THAT(
      text,
      HasSubstr(
          "store_held(held, rounds, early_stages + turn - 1, (early_stages + turn - 1) % stages, part, team_thread);\n"
          "              wait_for_stage(early_stages - 1);\n"));
  EXPECT_THAT(text, HasSubstr("held_pieces = window_pieces\n"));
  const std::string of_one_warp = print(pipeline_windows(
      pack_fragments(fragment_columns(stream_windows(canonical, {"i", 1, 1}), {"j", 32}), {"A"}), {"k", 3}));
  EXPECT_THAT(of_one_warp, HasSubstr("held_pieces = 1\n")) << "of 32 pieces of 256 rows that a thread would have";
}

TEST(PipelineWindows, TakesColumnsOfBThroughRegisters) {
  const std::string text = print(pipeline_windows(of_tokens, {"k", 3}));
  EXPECT_THAT(text, HasSubstr("registers fetched;\n"));
  EXPECT_THAT(
      text,
      HasSubstr(
          "load_window(fetched, B, Windows, first_round, rounds, rotation, turn + 2, tile, copy, lane, K, N);\n"));
  EXPECT_THAT(
      text,
      HasSubstr("transpose_window(fetched, StagedB, rounds, turn + 1, (turn + 1) % window_stages, copy, lane);\n"));
  EXPECT_THAT(text, HasSubstr("StagedB[window_stage][part], 0, 0, tile_columns, row_set, pair, sums, stage, "
                              "window_stage, part, place);\n"));
  EXPECT_THAT(
      text,
      HasSubstr("StagedB[window_stages][turn_windows][window_columns][tile_columns]: shared memory of a block\n"));
  EXPECT_THAT(text, Not(HasSubstr("stage_windows")));
}

TEST(QuarterSteps, ChangesWhatIsPackedAndNoStatement) {
  const LoopNest quartered = quarter_steps(packed, {"A"});
  EXPECT_TRUE(quartered.packed.quarter_steps);
  EXPECT_FALSE(packed.packed.quarter_steps);
  EXPECT_EQ(quartered.body, packed.body);
  EXPECT_EQ(quartered.story.size(), packed.story.size() + 1);
}

TEST(CopyInBulk, AsksForUnitsAndBoxesAndWaitsForThem) {
  const std::string text = print(bulk);
  EXPECT_THAT(text, HasSubstr("int team_thread = copy % block_panels * 32 + lane;\n            "
                              "make_barriers(thread);\n            barrier;  // of the block\n"));
  EXPECT_THAT(text, HasSubstr("copy_unit(Slots, Values, ExtraEnds,"));
  EXPECT_THAT(text, HasSubstr("copy_windows(held, B, Windows, StagedB, first_round, rounds, rotation, ahead, "
                              "stage_ahead, part, tile, team_thread, K, N);\n"));
  EXPECT_THAT(text, HasSubstr("if (its < rounds) {\n                wait_for_operands(turn, stage, part);\n"));
  EXPECT_THAT(text, Not(HasSubstr("stage_unit")));
  EXPECT_THAT(text, Not(HasSubstr("stage_windows")));
}

TEST(CopyUnits, LeavesAllWindowsToTheLanes) {
  const std::string text = print(copy_units_in_bulk(pipelined, {}));
  EXPECT_THAT(text, HasSubstr("make_barriers(thread);\n"));
  EXPECT_THAT(text, HasSubstr("copy_unit(Slots, Values, ExtraEnds,"));
  EXPECT_THAT(text, HasSubstr("stage_windows(held, B, Windows, StagedB, first_round, rounds, rotation, ahead, "
                              "stage_ahead, part, tile, team_thread, K, N);\n"));
  EXPECT_THAT(text, HasSubstr("wait_for_operands(turn, stage, part);\n"));
  EXPECT_THAT(text, Not(HasSubstr("copy_windows")));
}

TEST(ClusterTurns, DealsTurnsAndLeavesSumsToTheFirstBlock) {
  const std::string text = print(clustered);
  EXPECT_THAT(
      text,
      HasSubstr("cluster (rank = 0; rank < cluster_blocks; rank++)  // rank = a digit of blockIdx.x, the lowest\n"));
  EXPECT_THAT(text,
              HasSubstr("// cluster_sums[1][other_blocks][block_sums]: shared memory of the blocks of a cluster\n"));
  EXPECT_THAT(
      text,
      HasSubstr(
          "unsigned int turns = (rounds + turn_windows * cluster_blocks - 1) / (turn_windows * cluster_blocks);"));
  EXPECT_THAT(text, HasSubstr("unsigned int its = (turn * cluster_blocks + rank) * turn_windows + part;"));
  EXPECT_THAT(text, HasSubstr("rotation, s * cluster_blocks + rank, s, part, place, lane);"));
  EXPECT_THAT(text, HasSubstr("wait_for_operands(turn, stage, part);"));
  EXPECT_THAT(text, HasSubstr("leave_vector(cluster_sums[0][rank - 1][place_of_lane + 128*t], sums[4*t], 4, 0);"));
  EXPECT_THAT(text, HasSubstr("add_vector(sums[4*t], cluster_sums[0][other][place_of_lane + 128*t], 4);"));
  const auto first = text.find("barrier;  // of the cluster");
  EXPECT_LT(first, text.find("for (turn = 0;"));
  EXPECT_GT(text.find("barrier;  // of the cluster", first + 1), text.find("leave_vector"));
}

TEST(ClusterTurns, OfPanelsOfOneWarpFindsTheLaneItsPlace) {
  const LoopNest single = pipeline_windows(
      pack_fragments(fragment_columns(stream_windows(canonical, {"i", 2, 1}), {"j", 8}), {"A"}), {"k", 3});
  EXPECT_THAT(print(single), Not(HasSubstr("place_of_lane")));
  EXPECT_THAT(print(cluster_turns(single, {"k", 2})), HasSubstr("int place_of_lane = place * lane_products * 128 +"));
}

TEST(CopyInBulk, LeavesWindowsOfShortRowsAndColumnsToTheLanes) {
  const LoopNest narrow = copy_in_bulk(
      pipeline_windows(pack_fragments(fragment_columns(stream_windows(canonical, {"i", 2, 2}), {"j", 8}), {"A"}),
                       {"k", 3}),
      {});
  EXPECT_THAT(print(narrow), HasSubstr("copy_unit("));
  EXPECT_THAT(print(narrow), HasSubstr("stage_windows("));
  EXPECT_THAT(narrow.story, testing::Contains(HasSubstr("a unit each")));
  const LoopNest of_lines = copy_lines_in_bulk(narrow);
  EXPECT_THAT(print(of_lines), AllOf(HasSubstr("copy_windows("), testing::Not(HasSubstr("stage_windows("))));
  EXPECT_THAT(of_lines.story, testing::Contains(HasSubstr("windows of B as boxes")));
  const std::string tokens = print(copy_in_bulk(pipeline_windows(of_tokens, {"k", 3}), {}));
  EXPECT_THAT(tokens, HasSubstr("copy_unit("));
  EXPECT_THAT(tokens, HasSubstr("transpose_window("));
  EXPECT_THAT(tokens, HasSubstr("wait_for_operands("));
  const LoopNest columns = copy_in_bulk(pipeline_windows(of_tokens, {"k", 3}), {});
  EXPECT_EQ(copy_lines_in_bulk(columns), columns) << "of which there are no lines";
}

TEST(PlaceEpilogue, OfSumsThatAreOnlyRoundedAddsNoStatement) {
  EXPECT_FALSE(finished.epilogue.has_value());
  EXPECT_EQ(finished.body, pipelined.body);
}

TEST(PlaceEpilogue, FinishesTheSumsOfALane) {
  LoopNest nest = spmm_nest(ScalarType::bf16);
  nest.epilogue =
      Epilogue{{"i", "j"}, "sum", {}, Expression(Name{"sum"}) + Expression(element("bias", {Affine::of("i")}))};
  nest.arrays.push_back({"bias", {Affine::of("M")}, ArrayRole::operand, ScalarType::bf16});
  const std::string text = print(lower(nest, directives_of({StreamSchedule{}, "user"}, true)));
  EXPECT_THAT(text, HasSubstr("= sum_ + "));
  EXPECT_THAT(text, HasSubstr("wait_for_predecessor();"));
}

TEST(StreamPipeline, NamesEveryStepInOrder) {
  std::vector<std::string> names;
  for (const LoweredStep& step :
       lower_by_steps(spmm_nest(ScalarType::bf16), directives_of({StreamSchedule{}, "user"}, true))) {
    names.push_back(step.name);
  }
  EXPECT_THAT(names,
              testing::ElementsAre("input", "canonicalize", "mainloop(i, row_tiles=4, warps=2)", "fragment(j, 8)",
                                   "transform(A, sparse24)", "pipeline(k, 4)", "epilogue()", "pdl()"));
}

// Must refuse: a step, and words of the reason.

LoopNest in_panels() { return merge_patterns(enumerate(unroll(canonical, {"i", 2}), std::nullopt), {}); }

INSTANTIATE_TEST_SUITE_P(
    Stream, RefusedStep,
    testing::Values(
        StepRefusal{"stream unknown", [] { stream_windows(canonical, {"x", 1, 1}); },
                    "the loops of the nest are i, j, k"},
        StepRefusal{"stream columns", [] { stream_windows(canonical, {"j", 1, 1}); }, "no row loop 'j'"},
        StepRefusal{"stream twice", [] { stream_windows(streamed, {"i", 2, 2}); }, "no row loop 'i'"},
        StepRefusal{"stream a grid", [] { stream_windows(streamed, {"block", 2, 2}); }, "'block'"},
        StepRefusal{
            "stream panels", [] { stream_windows(in_panels(), {"i", 2, 2}); },
            "the rows are already in panels, or enumerated; stream the nest as it is read, before anything else"},
        StepRefusal{
            "stream cases", [] { stream_windows(enumerate(canonical, std::nullopt), {"i", 2, 2}); },
            "the rows are already in panels, or enumerated; stream the nest as it is read, before anything else"},
        StepRefusal{"stream panels of 24 rows", [] { stream_windows(canonical, {"i", 2, 2, 24}); },
                    "rows=24 is no panel of the tensor core; it multiplies 16 rows at once: write a multiple of 16, 32 "
                    "at most"},
        StepRefusal{"share without a divisor", [] { stream_windows(canonical, {"i", 2, 3, 16, 2}); },
                    "warps=3 cannot be dealt to windows with share=2 each; write a divisor of the warps, 8 at most"},
        StepRefusal{"stream 0 panels", [] { stream_windows(canonical, {"i", 0, 1}); },
                    "panels=0 is outside 1 to 16; the nearest legal value is 1"},
        StepRefusal{"stream 17 panels", [] { stream_windows(canonical, {"i", 17, 1}); },
                    "the nearest legal value is 16"},
        StepRefusal{"stream 5 warps of 4", [] { stream_windows(canonical, {"i", 4, 5}); },
                    "the nearest legal value is 4"},
        StepRefusal{"fragment too early", [] { fragment_columns(canonical, {"j", 8}); },
                    "the rows are not mapped to the grid; map the row loop first"},
        StepRefusal{"fragment panels", [] { fragment_columns(own_panels(in_panels(), {"i", 2, 1}), {"j", 8}); },
                    "the nest has no windows whose panels are multiplied; stream the rows first: mainloop(i, "
                    "row_tiles=4, warps=2)"},
        StepRefusal{"fragment unknown", [] { fragment_columns(streamed, {"x", 8}); },
                    "the nest has no windows whose panels are multiplied"},
        StepRefusal{"fragment twice", [] { fragment_columns(fragmented, {"j", 8}); },
                    "the nest has no windows whose panels are multiplied"},
        StepRefusal{
            "fragment of 4", [] { fragment_columns(streamed, {"j", 4}); },
            "the tensor core multiplies 8 columns, or in 16 bits the parts of one; the nearest legal value is 8"},
        StepRefusal{
            "fragment of one column of 32 bits",
            [] { fragment_columns(stream_windows(canonicalize(spmm_nest(ScalarType::f32)), {"i", 2, 2}), {"j", 1}); },
            "one column by itself is multiplied in 16 bits; the nearest legal value is 8"},
        StepRefusal{"fragment of one column of shared windows",
                    [] { fragment_columns(stream_windows(canonical, {"i", 2, 4, 16, 2}), {"j", 1}); },
                    "its warps share no window; leave share out"},
        StepRefusal{"lists of one column", [] { pack_listed(fragment_columns(streamed, {"j", 1}), {"A"}); },
                    "dense steps multiply 8 columns of C at once; store sparse steps"},
        StepRefusal{"fragment of 24", [] { fragment_columns(streamed, {"j", 24}); }, "the nearest legal value is 16"},
        StepRefusal{"fragment of 512", [] { fragment_columns(streamed, {"j", 512}); },
                    "the nearest legal value is 256"},
        StepRefusal{"pack fragments of 128", [] { pack_fragments(fragment_columns(streamed, {"j", 128}), {"A"}); },
                    "a warp has no registers for so many sums"},
        StepRefusal{"pack too early", [] { pack_fragments(streamed, {"A"}); },
                    "mainloop(i, row_tiles=4, warps=2); fragment(j, 8)"},
        StepRefusal{"pack the dense array", [] { pack_fragments(fragmented, {"B"}); },
                    "'B' is not a sparse array of the nest"},
        StepRefusal{"pack twice", [] { pack_fragments(packed, {"A"}); }, "'A' is not a sparse array of the nest"},
        StepRefusal{"pack doubles",
                    [] {
                      pack_fragments(
                          fragment_columns(stream_windows(canonicalize(spmm_nest(ScalarType::f64)), {"i", 2, 2}),
                                           {"j", 16}),
                          {"A"});
                    },
                    "the tensor cores that this is for multiply numbers of 16 bits and terms of float32; choose "
                    "--dtype f32, tf32, f16 or bf16, or a schedule of family panel"},
        StepRefusal{"pipeline too early", [] { pipeline_windows(fragmented, {"k", 3}); },
                    "the sparse array is not stored in fragments; transform it first: transform(A, sparse24)"},
        StepRefusal{"pipeline twice", [] { pipeline_windows(pipelined, {"k", 3}); }, "pipeline once"},
        StepRefusal{"quarter too early", [] { quarter_steps(fragmented, {"A"}); },
                    "'A' is not stored in fragments; transform it first: transform(A, sparse24)"},
        StepRefusal{"quarter listed values", [] { quarter_steps(pack_listed(fragmented, {"A"}), {"A"}); },
                    "sparse14(A): its steps have the columns as they stand, none of which is left out"},
        StepRefusal{"quarter the dense array", [] { quarter_steps(packed, {"B"}); }, "'B' is not stored in fragments"},
        StepRefusal{"quarter twice", [] { quarter_steps(quarter_steps(packed, {"A"}), {"A"}); }, "quarter once"},
        StepRefusal{"quarter floats",
                    [] {
                      quarter_steps(
                          pack_fragments(
                              fragment_columns(stream_windows(canonicalize(spmm_nest(ScalarType::f32)), {"i", 2, 2}),
                                               {"j", 16}),
                              {"A"}),
                          {"A"});
                    },
                    "of elements of 32 bits the tensor core takes one of two, as they are; leave it out, or choose "
                    "--dtype f16 or bf16"},
        StepRefusal{"bulk too early", [] { copy_in_bulk(packed, {}); },
                    "nothing is copied ahead of its use; copy it first: pipeline(k, 4)"},
        StepRefusal{"bulk twice", [] { copy_in_bulk(bulk, {}); },
                    "the copies are bulk copies already; ask for them once"},
        StepRefusal{"cluster too early", [] { cluster_turns(packed, {"k", 2}); },
                    "nothing is copied ahead of its use; copy it first: pipeline(k, 4)"},
        StepRefusal{"cluster twice", [] { cluster_turns(clustered, {"k", 2}); },
                    "the turns are dealt to a cluster already; deal them once"},
        StepRefusal{"cluster behind the overlap", [] { cluster_turns(overlap(bulk, {}), {"k", 2}); },
                    "the kernel waits for the one in front already; deal the turns in front of pdl()"},
        StepRefusal{"cluster of one", [] { cluster_turns(bulk, {"k", 1}); },
                    "a cluster of one block shares nothing; the nearest legal value is 2"},
        StepRefusal{"cluster of sixteen", [] { cluster_turns(bulk, {"k", 16}); }, "the nearest legal value is 8"},
        StepRefusal{"one stage", [] { pipeline_windows(packed, {"k", 1}); },
                    "one stage cannot be copied to while it is read; the nearest legal value is 2"},
        StepRefusal{"nine stages", [] { pipeline_windows(packed, {"k", 9}); }, "the nearest legal value is 8"},
        StepRefusal{"epilogue too early", [] { place_epilogue(streamed, {}); }, "parts of a sum are added up in C"},
        StepRefusal{"epilogue twice", [] { place_epilogue(finished, {}); },
                    "or it is placed already; leave epilogue() out"},
        StepRefusal{"unroll streamed rows", [] { unroll(streamed, {"i", 2}); }, "'i'"},
        StepRefusal{
            "tile streamed columns", [] { tile_columns(streamed, {"j", 8, 2}); },
            "columns of A are taken in windows around this loop; give the lanes their columns by fragment(j, 8)"},
        StepRefusal{"vectorize fragments", [] { vectorize(fragmented, {"j"}); }, "vectorize"},
        StepRefusal{"stage fragments", [] { stage_regions(packed, {"A"}); }, "'A' is not stored in regions"}));

}  // namespace
}  // namespace esc
