// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "generator/ir/build.h"
#include "generator/ir/linear_nk_nest.h"
#include "generator/ir/print.h"
#include "generator/lower/assign_row_tiles.h"
#include "generator/lower/canonicalize.h"
#include "generator/lower/cluster_iterations.h"
#include "generator/lower/copy_in_bulk.h"
#include "generator/lower/enumerate.h"
#include "generator/lower/fragment_columns.h"
#include "generator/lower/mainloop.h"
#include "generator/lower/merge_patterns.h"
#include "generator/lower/overlap.h"
#include "generator/lower/pack_fragments.h"
#include "generator/lower/pipeline_k_tiles.h"
#include "generator/lower/place_epilogue.h"
#include "generator/lower/stage_regions.h"
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

const LoopNest canonical = canonicalize(spmm_nest(ScalarType::f32));
const LoopNest streamed = mainloop(canonical, {"i", 2, 2});
const LoopNest fragmented = fragment_columns(streamed, {"j", 16});
const LoopNest packed = pack_fragments(fragmented, {"A"});
const LoopNest pipelined = pipeline_k_tiles(packed, {"k", 3});
const LoopNest bulk = copy_in_bulk(pipelined, {});
const LoopNest clustered = cluster_iterations(bulk, {"k", 4});
const LoopNest of_tokens = pack_fragments(
    fragment_columns(mainloop(canonicalize(linear_nk_nest(ScalarType::f32)), {"i", 2, 2}), {"j", 16}), {"A"});
const LoopNest canonical_halves = canonicalize(spmm_nest(ScalarType::f16));
const LoopNest fragmented_halves = fragment_columns(mainloop(canonical_halves, {"i", 2, 2}), {"j", 16});
const LoopNest finished_halves = place_epilogue(fragmented_halves, {});

// Must apply: a nest, and what is in the result.

TEST(Canonicalize, OfHalvesHasAnEpilogueThatOnlyRounds) {
  EXPECT_THAT(print(canonical_halves), testing::EndsWith("for (i = 0; i < M; i++)\n"
                                                         "  for (j = 0; j < N; j++) {\n"
                                                         "    float sum_ = C[i][j];\n"
                                                         "    C[i][j] = sum_;\n"
                                                         "  }\n"));
  EXPECT_FALSE(canonical.epilogue.has_value());
  EXPECT_FALSE(canonicalize(spmm_nest(ScalarType::f64)).epilogue.has_value());
}

TEST(Mainloop, GivesPanelsToBlocksAndWindowsToWarps) {
  EXPECT_THAT(
      print(streamed),
      HasSubstr("grid (block = 0; block < blocks; block++)  // block = blockIdx.x\n"
                "  warps (part = 0; part < iteration_k_tiles; part++)  // part = a digit of threadIdx.x / 32\n"
                "    warps (place = 0; place < block_row_tiles; place++) {  // place = a digit of threadIdx.x / 32\n"
                "      unsigned int row_tile = block * block_row_tiles + place;\n"
                "      for (k_tile = part; k_tile < k_tiles; k_tile += iteration_k_tiles)\n"
                "        for (slot = 0; slot < k_tile_columns; slot++) {\n"
                "          unsigned int k = k_tile * k_tile_columns + slot;\n"
                "          for (u = 0; u < row_tile_height; u++) {\n"
                "            unsigned int i = row_tile * row_tile_height + u;\n"
                "            for (j = 0; j < N; j++)\n"
                "              if (i < M && k < K && A[i][k] != 0) atomicAdd(&C[i][j], A[i][k] * B[k][j]);\n"));
  EXPECT_THAT(print(streamed), HasSubstr("// blocks = ceil(M / 32)\n// k_tiles = ceil(K / 128)\n"));
  EXPECT_THAT(print(mainloop(canonical_halves, {"i", 2, 2})), HasSubstr("// k_tiles = ceil(K / 256)\n"));
  EXPECT_EQ(streamed.zeroed, Zeroed::output);
}

TEST(Mainloop, MaySharePanelsOf32RowsAndWindows) {
  const LoopNest shared = mainloop(canonical, {"i", 2, 4, 32, 2});
  EXPECT_THAT(print(shared), HasSubstr("// blocks = ceil(M / 64)\n"));
  EXPECT_THAT(print(shared), HasSubstr("warps (member = 0; member < k_tile_warps; member++)"));
  EXPECT_THAT(print(shared), HasSubstr("for (slot = member; slot < k_tile_columns; slot += k_tile_warps) {\n"));
  const std::string text =
      print(pipeline_k_tiles(pack_fragments(fragment_columns(shared, {"j", 16}), {"A"}), {"k", 3}));
  EXPECT_THAT(text, HasSubstr("if (0 < member * iteration_k_tiles + part) {\n")) << "whose sums these are";
  EXPECT_THAT(
      text, HasSubstr("step + member * unrolled_steps, step + member * unrolled_steps + unrolled_steps, 0, n8_tiles, "))
      << "a pair of steps for each that shares it";
  EXPECT_THAT(text, HasSubstr("step_left, packed_tile_steps, n8_tiles * member / k_tile_warps, n8_tiles * (member "
                              "+ 1) / k_tile_warps, "))
      << "or a part of the columns";
  EXPECT_THAT(text, HasSubstr("if (member < 1) stage_packed_tile(")) << "once for all that share it";
}

TEST(Mainloop, OfOneWarpSharesNoElementOfC) {
  EXPECT_THAT(print(mainloop(canonical, {"i", 2, 1})), HasSubstr("A[i][k] != 0) C[i][j] += A[i][k] * B[k][j];"));
}

TEST(FragmentColumns, GivesLanesTheSumsOfTheTensorCore) {
  const std::string text = print(fragmented);
  EXPECT_THAT(text, HasSubstr("unsigned int i = row_tile * row_tile_height + e % lane_rows * row_sets + row_set;\n"));
  EXPECT_THAT(text, HasSubstr("unsigned int j = tile * tile_columns + e / lane_rows * 8 + 2*pair;\n"));
  EXPECT_THAT(text,
              HasSubstr("if (j + v < N && i < M && k < K && A[i][k] != 0) sums[2*e + v] += A[i][k] * B[k][j + v];"));
  EXPECT_THAT(text, HasSubstr("if (i < M) store_columns(C[i][j], sums[2*e], 2, j < N ? N - j : 0);"));
  EXPECT_EQ(fragmented.zeroed, Zeroed::nothing);
  EXPECT_EQ(fragmented.find_array("sums")->type, ScalarType::f32);
}

TEST(FragmentColumns, AddsTheSumsOfThePanelsWarps) {
  EXPECT_THAT(print(fragmented), HasSubstr("add_vector(sums[4*t], partial_sums[other][place_of_lane + 128*t], 4);"));
  const std::string alone = print(fragment_columns(mainloop(canonical, {"i", 2, 1}), {"j", 16}));
  EXPECT_THAT(alone, Not(HasSubstr("partial_sums")));
  EXPECT_THAT(alone, Not(HasSubstr("barrier")));
}

TEST(PackFragments, OfTf32RoundsTheirFactors) {
  const LoopNest rounded = canonicalize(spmm_nest(ScalarType::tf32));
  EXPECT_THAT(print(pack_fragments(fragment_columns(mainloop(rounded, {"i", 2, 2}), {"j", 16}), {"A"})),
              HasSubstr("multiply_rounded_steps("));
}

TEST(PackFragments, MultipliesUnitsOfRounds) {
  const std::string text = print(packed);
  EXPECT_THAT(text, HasSubstr("first_round, rounds = find_rounds(FirstRounds, block);\n"));
  EXPECT_THAT(text, HasSubstr("unsigned int rotation = block * rounds / blocks;\n"));
  EXPECT_THAT(text, HasSubstr("k_tile = k_tile_at(KTiles, round, first_round);\n"));
  EXPECT_THAT(text,
              HasSubstr("multiply_split_steps(Slots[round][place], Values[round][place], step, packed_tile_steps, 0, "
                        "n8_tiles, B, k_tile * k_tile_columns, "
                        "tile * tile_columns, N, row_set, pair, sums, 0, 0, part, place);\n"));
  EXPECT_THAT(text, HasSubstr("add_residuals(first_residual, residuals_end, ResidualSlots[round][place], "
                              "ResidualRows[round][place], ResidualValues[round][place], B, "));
  EXPECT_THAT(text, Not(HasSubstr("A[i]")));
  EXPECT_EQ(packed.packed.kind, PackedForm::Kind::fragments);
  EXPECT_EQ(packed.packed.height, 16);
  EXPECT_EQ(packed.packed.block_row_tiles, 2);
}

TEST(PackDense, MultipliesConsecutiveColumnsAndNothingBesideThem) {
  const LoopNest dense = pack_dense(fragmented, {"A"});
  const std::string text = print(dense);
  EXPECT_THAT(
      text, HasSubstr("multiply_split_dense_steps(Slots[round][place], Values[round][place], step, packed_tile_steps, "
                      "0, n8_tiles, B, k_tile * k_tile_columns, "
                      "tile * tile_columns, N, row_set, pair, sums, 0, 0, part, place);\n"));
  EXPECT_THAT(text, Not(HasSubstr("residuals(")));
  EXPECT_EQ(dense.constant("step_slots"), 8);
  EXPECT_EQ(dense.constant("unrolled_steps") * dense.constant("step_slots"), 32)
      << "as many columns as two steps of the sparse tensor core";
  EXPECT_TRUE(dense.packed.dense_steps);
  EXPECT_FALSE(packed.packed.dense_steps);
  const LoopNest rounded =
      fragment_columns(mainloop(canonicalize(spmm_nest(ScalarType::tf32)), {"i", 2, 2}), {"j", 16});
  EXPECT_THAT(print(pack_dense(rounded, {"A"})), HasSubstr("multiply_rounded_dense_steps("));
}

TEST(PackListed, MultipliesConsecutiveColumnsOfEitherType) {
  const LoopNest listed = pack_listed(fragmented, {"A"});
  const std::string text = print(listed);
  EXPECT_THAT(text, HasSubstr("multiply_split_dense_steps(Slots[round][place], Values[round][place], step, "
                              "packed_tile_steps, 0, n8_tiles, B, k_tile * k_tile_columns, "
                              "tile * tile_columns, N, row_set, pair, sums, 0, 0, part, place);\n"));
  EXPECT_THAT(text, Not(HasSubstr("residuals(")));
  EXPECT_EQ(listed.constant("step_slots"), 8);
  EXPECT_EQ(listed.constant("unrolled_steps"), 4);
  EXPECT_TRUE(listed.packed.dense_steps && listed.packed.listed_values);
  EXPECT_THAT(print(pipeline_k_tiles(listed, {"k", 3})),
              HasSubstr("multiply_split_dense_steps(StagedSlots[stage][copy], "));
  EXPECT_FALSE(pack_dense(fragmented, {"A"}).packed.listed_values);
  const LoopNest rounded = canonicalize(spmm_nest(ScalarType::tf32));
  EXPECT_THAT(print(pack_listed(fragment_columns(mainloop(rounded, {"i", 2, 2}), {"j", 16}), {"A"})),
              HasSubstr("multiply_rounded_dense_steps("));
}

TEST(PipelineKTiles, CopiesBothOperandsAheadOfTheirUse) {
  const std::string text = print(pipelined);
  EXPECT_THAT(text, HasSubstr("wait_for_stage(early_stages - 1);\n              barrier;  // of the consumer_group\n"));
  EXPECT_THAT(text, HasSubstr("unsigned int ahead = early_stages + iteration;\n"));
  EXPECT_THAT(text, HasSubstr("stage_k_tiles(held, B, KTiles, StagedB, first_round, rounds, rotation, ahead, "
                              "stage_ahead, part, tile, consumer_group_thread, K, N);\n"));
  EXPECT_THAT(text, HasSubstr("multiply_split_steps(StagedSlots[stage][copy], StagedValues[stage][copy], step, "
                              "packed_tile_steps, 0, n8_tiles, StagedB[stage][part], 0, 0, "
                              "tile_columns, row_set, pair, sums, stage, stage, part, place);\n"));
  EXPECT_THAT(text, Not(HasSubstr("k_tile_at")));
}

/// Rows that are no whole vectors have an iteration to come to a thread's registers, as far as these have room.
TEST(PipelineKTiles, StoresWhatItHoldsInFrontOfTheBarrierOfTheNextTurn) {
  const std::string text = print(pipelined);
  EXPECT_THAT(text, HasSubstr("registers held;\n"));
  EXPECT_THAT(text, HasSubstr("if (0 < s) store_held(held, rounds, s - 1, s - 1, part, consumer_group_thread);\n"));
  EXPECT_THAT(text, HasSubstr("store_held(held, rounds, early_stages + iteration - 1, (early_stages + iteration - 1) % "
                              "stages, part, consumer_group_thread);\n"
                              "              wait_for_stage(early_stages - 1);\n"));
  EXPECT_THAT(text, HasSubstr("held_pieces = k_tile_pieces\n"));
  const std::string of_one_warp = print(
      pipeline_k_tiles(pack_fragments(fragment_columns(mainloop(canonical, {"i", 1, 1}), {"j", 32}), {"A"}), {"k", 3}));
  EXPECT_THAT(of_one_warp, HasSubstr("held_pieces = 1\n")) << "of 32 pieces of 128 rows that a thread would have";
}

TEST(PipelineKTiles, CopiesColumnsOfBAsTheyLie) {
  const std::string text = print(pipeline_k_tiles(of_tokens, {"k", 3}));
  EXPECT_THAT(text, HasSubstr("stage_columns(B, KTiles, StagedB, first_round, rounds, rotation, ahead, stage_ahead, "
                              "part, tile, consumer_group_thread, K, N);\n"));
  EXPECT_THAT(text, HasSubstr("StagedB[stage][part], 0, 0, tile_columns, row_set, pair, sums, stage, stage, part, "
                              "place);\n"));
  EXPECT_THAT(text, HasSubstr("StagedB[stages][iteration_k_tiles][k_tile_columns][tile_columns]: shared memory of a "
                              "block\n"));
  EXPECT_THAT(text, Not(HasSubstr("stage_k_tiles")));
  EXPECT_THAT(text, Not(HasSubstr("registers held")));
}

TEST(CopyInBulk, AsksForUnitsAndBoxesAndWaitsForThem) {
  const std::string text = print(bulk);
  EXPECT_THAT(text, HasSubstr("int consumer_group_thread = copy % block_row_tiles * 32 + lane;\n            "
                              "make_barriers(thread);\n            barrier;  // of the block\n"));
  EXPECT_THAT(text, HasSubstr("copy_packed_tile(Slots, Values, ResidualEnds,"));
  EXPECT_THAT(text, HasSubstr("copy_k_tiles(held, B, KTiles, StagedB, first_round, rounds, rotation, ahead, "
                              "stage_ahead, part, tile, consumer_group_thread, K, N);\n"));
  EXPECT_THAT(text, HasSubstr("if (its < rounds) {\n                wait_for_operands(iteration, stage, part);\n"));
  EXPECT_THAT(text, Not(HasSubstr("stage_packed_tile")));
  EXPECT_THAT(text, Not(HasSubstr("stage_k_tiles")));
}

TEST(CopyPackedTiles, LeavesAllWindowsToTheLanes) {
  const std::string text = print(copy_packed_tiles_in_bulk(pipelined, {}));
  EXPECT_THAT(text, HasSubstr("make_barriers(thread);\n"));
  EXPECT_THAT(text, HasSubstr("copy_packed_tile(Slots, Values, ResidualEnds,"));
  EXPECT_THAT(text, HasSubstr("stage_k_tiles(held, B, KTiles, StagedB, first_round, rounds, rotation, ahead, "
                              "stage_ahead, part, tile, consumer_group_thread, K, N);\n"));
  EXPECT_THAT(text, HasSubstr("wait_for_operands(iteration, stage, part);\n"));
  EXPECT_THAT(text, Not(HasSubstr("copy_k_tiles")));
}

TEST(ClusterIterations, DealsTurnsAndLeavesSumsToTheFirstBlock) {
  const std::string text = print(clustered);
  EXPECT_THAT(
      text,
      HasSubstr("cluster (rank = 0; rank < cluster_blocks; rank++)  // rank = a digit of blockIdx.x, the lowest\n"));
  EXPECT_THAT(text,
              HasSubstr("// cluster_sums[1][other_blocks][block_sums]: shared memory of the blocks of a cluster\n"));
  EXPECT_THAT(text, HasSubstr("unsigned int iterations = (rounds + iteration_k_tiles * cluster_blocks - 1) / "
                              "(iteration_k_tiles * cluster_blocks);"));
  EXPECT_THAT(text, HasSubstr("unsigned int its = (iteration * cluster_blocks + rank) * iteration_k_tiles + part;"));
  EXPECT_THAT(text, HasSubstr("rotation, s * cluster_blocks + rank, s, part, place, lane);"));
  EXPECT_THAT(text, HasSubstr("wait_for_operands(iteration, stage, part);"));
  EXPECT_THAT(text, HasSubstr("store_to_cluster(cluster_sums[0][rank - 1][place_of_lane + 128*t], sums[4*t], 4, 0);"));
  EXPECT_THAT(text, HasSubstr("add_vector(sums[4*t], cluster_sums[0][other][place_of_lane + 128*t], 4);"));
  const auto first = text.find("barrier;  // of the cluster");
  EXPECT_LT(first, text.find("for (iteration = 0;"));
  EXPECT_GT(text.find("barrier;  // of the cluster", first + 1), text.find("store_to_cluster"));
}

TEST(ClusterIterations, OfPanelsOfOneWarpFindsTheLaneItsPlace) {
  const LoopNest single =
      pipeline_k_tiles(pack_fragments(fragment_columns(mainloop(canonical, {"i", 2, 1}), {"j", 8}), {"A"}), {"k", 3});
  EXPECT_THAT(print(single), Not(HasSubstr("place_of_lane")));
  EXPECT_THAT(print(cluster_iterations(single, {"k", 2})),
              HasSubstr("int place_of_lane = place * lane_products * 128 +"));
}

TEST(CopyInBulk, LeavesWindowsOfShortRowsAndColumnsToTheLanes) {
  const LoopNest narrow = copy_in_bulk(
      pipeline_k_tiles(pack_fragments(fragment_columns(mainloop(canonical, {"i", 2, 2}), {"j", 8}), {"A"}), {"k", 3}),
      {});
  EXPECT_THAT(print(narrow), HasSubstr("copy_packed_tile("));
  EXPECT_THAT(print(narrow), HasSubstr("stage_k_tiles("));
  EXPECT_THAT(narrow.description, testing::Contains(HasSubstr("a bulk copy of each packed tile")));
  const std::string tokens = print(copy_in_bulk(pipeline_k_tiles(of_tokens, {"k", 3}), {}));
  EXPECT_THAT(tokens, HasSubstr("copy_packed_tile("));
  EXPECT_THAT(tokens, HasSubstr("stage_columns("));
  EXPECT_THAT(tokens, HasSubstr("wait_for_operands("));
}

TEST(PlaceEpilogue, OfSumsThatAreOnlyRoundedAddsNoStatement) {
  EXPECT_FALSE(finished_halves.epilogue.has_value());
  EXPECT_EQ(finished_halves.body, fragmented_halves.body);
}

/// The product with a bias of rows.
LoopNest with_bias() {
  LoopNest nest = spmm_nest(ScalarType::f32);
  nest.epilogue =
      Epilogue{{"i", "j"}, "sum", {}, Expression(Name{"sum"}) + Expression(element("bias", {Affine::of("i")}))};
  nest.arrays.push_back({"bias", {Affine::of("M")}, ArrayRole::operand, ScalarType::f32});
  return nest;
}

TEST(PlaceEpilogue, FinishesTheSumsOfALane) {
  const std::string text = print(lower(with_bias(), directives_of({StreamSchedule{}, "user"}, true)));
  EXPECT_THAT(text, HasSubstr("= sum_ + "));
  EXPECT_THAT(text, HasSubstr("wait_for_predecessor();"));
}

TEST(StreamPipeline, NamesEveryStepInOrder) {
  std::vector<std::string> names;
  for (const LoweredStep& step : lower_by_steps(with_bias(), directives_of({StreamSchedule{}, "user"}, true))) {
    names.push_back(step.name);
  }
  EXPECT_THAT(names,
              testing::ElementsAre("input", "canonicalize", "mainloop(i, row_tiles=4, warps=2)", "fragment(j, 8)",
                                   "transform(A, sparse24)", "pipeline(k, 4)", "epilogue()", "pdl()"));
}

// Must refuse: a step, and words of the reason.

LoopNest in_row_tiles() { return merge_patterns(enumerate(unroll(canonical, {"i", 2}), std::nullopt), {}); }

INSTANTIATE_TEST_SUITE_P(
    Stream, RefusedStep,
    testing::Values(
        StepRefusal{"stream unknown", [] { mainloop(canonical, {"x", 1, 1}); }, "the loops of the nest are i, j, k"},
        StepRefusal{"stream columns", [] { mainloop(canonical, {"j", 1, 1}); }, "no row loop 'j'"},
        StepRefusal{"stream twice", [] { mainloop(streamed, {"i", 2, 2}); }, "no row loop 'i'"},
        StepRefusal{"stream a grid", [] { mainloop(streamed, {"block", 2, 2}); }, "'block'"},
        StepRefusal{
            "stream row tiles", [] { mainloop(in_row_tiles(), {"i", 2, 2}); },
            "the rows are already in row tiles, or enumerated; stream the nest as it is read, before anything else"},
        StepRefusal{
            "stream cases", [] { mainloop(enumerate(canonical, std::nullopt), {"i", 2, 2}); },
            "the rows are already in row tiles, or enumerated; stream the nest as it is read, before anything else"},
        StepRefusal{
            "stream row tiles of 24 rows", [] { mainloop(canonical, {"i", 2, 2, 24}); },
            "warp_m=24 is no row tile of the tensor core; it multiplies 16 rows at once: write a multiple of 16, 32 "
            "at most"},
        StepRefusal{"share without a divisor", [] { mainloop(canonical, {"i", 2, 3, 16, 2}); },
                    "warps=3 cannot be divided into groups of split_k=2 that share a K tile; write a divisor of the "
                    "warps, 8 at most"},
        StepRefusal{"stream 0 row tiles", [] { mainloop(canonical, {"i", 0, 1}); },
                    "row_tiles=0 is outside 1 to 16; the nearest legal value is 1"},
        StepRefusal{"stream 17 row tiles", [] { mainloop(canonical, {"i", 17, 1}); }, "the nearest legal value is 16"},
        StepRefusal{"stream 5 warps of 4", [] { mainloop(canonical, {"i", 4, 5}); }, "the nearest legal value is 4"},
        StepRefusal{"fragment too early", [] { fragment_columns(canonical, {"j", 8}); },
                    "the rows are not mapped to the grid; map the row loop first"},
        StepRefusal{"fragment row tiles",
                    [] { fragment_columns(assign_row_tiles(in_row_tiles(), {"i", 2, 1}), {"j", 8}); },
                    "the nest has no K tiles whose row tiles are multiplied; stream the rows first: mainloop(i, "
                    "row_tiles=4, warps=2)"},
        StepRefusal{"fragment unknown", [] { fragment_columns(streamed, {"x", 8}); },
                    "the nest has no K tiles whose row tiles are multiplied"},
        StepRefusal{"fragment twice", [] { fragment_columns(fragmented, {"j", 8}); },
                    "the nest has no K tiles whose row tiles are multiplied"},
        StepRefusal{"fragment of 4", [] { fragment_columns(streamed, {"j", 4}); },
                    "the tensor core multiplies 8 columns at once; the nearest legal value is 8"},
        StepRefusal{"fragment of one column", [] { fragment_columns(streamed, {"j", 1}); },
                    "the tensor core multiplies 8 columns at once; the nearest legal value is 8"},
        StepRefusal{"fragment of one column of halves",
                    [] { fragment_columns(mainloop(canonical_halves, {"i", 2, 2}), {"j", 1}); },
                    "the tensor core multiplies 8 columns at once; the nearest legal value is 8"},
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
                          fragment_columns(mainloop(canonicalize(spmm_nest(ScalarType::f64)), {"i", 2, 2}), {"j", 16}),
                          {"A"});
                    },
                    "fragments have elements of 32 bits, and f64 has 64; choose --dtype f32 or tf32, or a schedule of "
                    "family panel"},
        StepRefusal{"pack halves", [] { pack_fragments(fragmented_halves, {"A"}); },
                    "transform(A, sparse24): fragments have elements of 32 bits, and f16 has 16; write transform(A, "
                    "bitmap), or --schedule bitmap"},
        StepRefusal{"pack all halves", [] { pack_dense(fragmented_halves, {"A"}); },
                    "transform(A, dense): fragments have elements of 32 bits, and f16 has 16; write transform(A, "
                    "bitmap), or --schedule bitmap"},
        StepRefusal{"list brain halves",
                    [] {
                      pack_listed(
                          fragment_columns(mainloop(canonicalize(spmm_nest(ScalarType::bf16)), {"i", 2, 2}), {"j", 16}),
                          {"A"});
                    },
                    "transform(A, compressed): fragments have elements of 32 bits, and bf16 has 16; write "
                    "transform(A, bitmap), or --schedule bitmap"},
        StepRefusal{"pipeline too early", [] { pipeline_k_tiles(fragmented, {"k", 3}); },
                    "the sparse array is not stored in fragments; transform it first: transform(A, sparse24)"},
        StepRefusal{"pipeline twice", [] { pipeline_k_tiles(pipelined, {"k", 3}); }, "pipeline once"},
        StepRefusal{"bulk too early", [] { copy_in_bulk(packed, {}); },
                    "nothing is copied ahead of its use; copy it first: pipeline(k, 4)"},
        StepRefusal{"bulk twice", [] { copy_in_bulk(bulk, {}); },
                    "the copies are bulk copies already; ask for them once"},
        StepRefusal{"cluster too early", [] { cluster_iterations(packed, {"k", 2}); },
                    "nothing is copied ahead of its use; copy it first: pipeline(k, 4)"},
        StepRefusal{"cluster twice", [] { cluster_iterations(clustered, {"k", 2}); },
                    "the iterations are dealt to a cluster already; deal them once"},
        StepRefusal{"cluster after the overlap", [] { cluster_iterations(overlap(bulk, {}), {"k", 2}); },
                    "the kernel waits for the previous one already; deal the iterations before pdl()"},
        StepRefusal{"cluster of one", [] { cluster_iterations(bulk, {"k", 1}); },
                    "a cluster of one block shares nothing; the nearest legal value is 2"},
        StepRefusal{"cluster of sixteen", [] { cluster_iterations(bulk, {"k", 16}); }, "the nearest legal value is 8"},
        StepRefusal{"one stage", [] { pipeline_k_tiles(packed, {"k", 1}); },
                    "one stage cannot be copied to while it is read; the nearest legal value is 2"},
        StepRefusal{"nine stages", [] { pipeline_k_tiles(packed, {"k", 9}); }, "the nearest legal value is 8"},
        StepRefusal{"epilogue too early", [] { place_epilogue(mainloop(canonical_halves, {"i", 2, 2}), {}); },
                    "parts of a sum are added up in C"},
        StepRefusal{"epilogue twice", [] { place_epilogue(finished_halves, {}); },
                    "or it is placed already; leave epilogue() out"},
        StepRefusal{"unroll streamed rows", [] { unroll(streamed, {"i", 2}); }, "'i'"},
        StepRefusal{
            "tile streamed columns", [] { tile_columns(streamed, {"j", 8, 2}); },
            "columns of A are taken in K tiles around this loop; give the lanes their columns by fragment(j, 8)"},
        StepRefusal{"vectorize fragments", [] { vectorize(fragmented, {"j"}); }, "vectorize"},
        StepRefusal{"stage fragments", [] { stage_regions(packed, {"A"}); }, "'A' is not stored in regions"}));

}  // namespace
}  // namespace esc
