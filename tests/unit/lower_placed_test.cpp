// SPDX-License-Identifier: Apache-2.0
// Values that are placed in shared memory, and warps with columns of C of their own, which multiply them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "generator/ir/build.h"
#include "generator/ir/linear_nk_nest.h"
#include "generator/ir/print.h"
#include "generator/lower/canonicalize.h"
#include "generator/lower/cluster_iterations.h"
#include "generator/lower/copy_in_bulk.h"
#include "generator/lower/fragment_columns.h"
#include "generator/lower/mainloop.h"
#include "generator/lower/pack_fragments.h"
#include "generator/lower/pack_placed.h"
#include "generator/lower/pipeline_k_tiles.h"
#include "generator/lower/warp_specialize.h"
#include "generator/pipeline.h"
#include "generator/schedule/schedule_choice.h"
#include "tests/unit/refused_step.h"

namespace esc {
namespace {

using testing::HasSubstr;
using testing::Not;

LoopNest streamed_in(ScalarType element, const Mainloop& directive) {
  return mainloop(canonicalize(spmm_nest(element)), directive);
}

/// Two consumer groups of eight warps: two row tiles of 32 rows, four warps for each.
const LoopNest streamed = streamed_in(ScalarType::f32, {"i", 2, 8, 32, 4, 32});
const LoopNest fragmented = fragment_columns(streamed, {"j", 128, 16});
const LoopNest packed = pack_placed(fragmented, {"A"});
const LoopNest pipelined = pipeline_k_tiles(packed, {"k", 3});
const LoopNest clustered = cluster_iterations(pipelined, {"k", 2});

/// One consumer group: four row tiles of 16 rows, a warp for each.
const LoopNest of_one_consumer_group =
    fragment_columns(streamed_in(ScalarType::tf32, {"i", 4, 1, 16, 1, 32}), {"j", 64, 16});
const LoopNest pipelined_for_one_consumer_group = pipeline_k_tiles(pack_placed(of_one_consumer_group, {"A"}), {"k", 2});

// Must apply: a nest, and what is in the result.

TEST(PlacedWindows, HaveTheColumnsThatPlacesAreFor) {
  EXPECT_THAT(print(streamed), HasSubstr("// k_tiles = ceil(K / 32)\n"));
  EXPECT_EQ(streamed.constant("k_tile_columns"), 32);
}

/// Four consecutive warps multiply at once, so they are of one consumer group.
TEST(PlacedWindows, AreMultipliedByConsecutiveWarps) {
  EXPECT_THAT(
      print(streamed),
      HasSubstr(
          "  warps (part = 0; part < iteration_k_tiles; part++)  // part = a digit of threadIdx.x / 32\n"
          "    warps (member = 0; member < k_tile_warps; member++)  // member = a digit of threadIdx.x / 32\n"
          "      warps (place = 0; place < block_row_tiles; place++) {  // place = a digit of threadIdx.x / 32\n"));
}

TEST(FragmentColumnsOfWarps, AreInTheRowsOfAllPanels) {
  const std::string text = print(fragmented);
  EXPECT_THAT(text, HasSubstr("int consumer_group_warp = member * block_row_tiles + place;\n"));
  EXPECT_THAT(text, HasSubstr("unsigned int i = block * block_rows + e / 2 * 8 + 2*row_pair + e % 2;\n"));
  EXPECT_THAT(
      text, HasSubstr("unsigned int j = tile * tile_columns + consumer_group_warp * warp_columns + 2*column_pair;\n"));
  EXPECT_THAT(text, HasSubstr("for (slot = 0; slot < k_tile_columns; slot++) {\n"))
      << "all of a K tile, whoever shares it";
  EXPECT_THAT(text,
              HasSubstr("if (j + v < N && i < M && k < K && A[i][k] != 0) sums[2*e + v] += A[i][k] * B[k][j + v];"));
  EXPECT_THAT(text, Not(HasSubstr("row tile = ")));
  EXPECT_EQ(fragmented.constant("lane_sums"), 64 * 16 / 32) << "of 64 rows and 16 columns";
  EXPECT_EQ(of_one_consumer_group.constant("lane_sums"), 64 * 16 / 32);
}

/// They take the places of operands, which every consumer group must have read.
TEST(FragmentColumnsOfWarps, LeaveTheirSumsBehindABarrierForTheFirstTeam) {
  const std::string text = print(fragmented);
  EXPECT_THAT(text,
              HasSubstr("              barrier;  // of the block\n"
                        "              int place_of_lane = consumer_group_warp * lane_products * 128 + (column_pair * "
                        "row_pairs + row_pair) * 4;\n"
                        "              if (0 < part) {\n"));
  EXPECT_THAT(text, HasSubstr("              barrier;  // of the block\n"
                              "              if (part < 1) {\n"
                              "                for (other = 0; other < other_warps; other++)  // unrolled\n"));
  EXPECT_EQ(fragmented.constant("other_warps"), 1);
  EXPECT_EQ(fragmented.constant("block_sums"), 64 * 128);
}

TEST(FragmentColumnsOfWarps, OfOneTeamAreStoredByEachWarp) {
  const std::string text = print(of_one_consumer_group);
  EXPECT_THAT(text, HasSubstr("int consumer_group_warp = place;\n"));
  EXPECT_THAT(text, Not(HasSubstr("partial_sums")));
  EXPECT_THAT(text, Not(HasSubstr("barrier")));
}

TEST(PackPlaced, PlacesMeetsAndMultiplies) {
  const std::string text = print(packed);
  const std::string of_round =
      "                  unsigned int rotated = its + rotation;\n"
      "                  unsigned int round = first_round + (rotated < rounds ? rotated : rotated - rounds);\n"
      "                  k_tile = k_tile_at(KTiles, round, first_round);\n";
  EXPECT_THAT(text,
              HasSubstr("                if (its < rounds) {\n" + of_round +
                        "                  place_split_values(Values[round][place], PlacedA[part], place, "
                        "member, column_pair * row_pairs + row_pair, 0, 0, part);\n"
                        "                }\n"
                        "                barrier;  // of the block\n"
                        "                if (its < rounds) {\n" +
                        of_round +
                        "                  multiply_split_placed(PlacedA[part], B, k_tile * k_tile_columns, K, "
                        "tile * tile_columns, N, consumer_group_warp, row_pair, column_pair, sums, 0, 0, 0, part);\n"
                        "                }\n"
                        "                barrier;  // of the block\n"));
  EXPECT_THAT(text, HasSubstr("// PlacedA[iteration_k_tiles][k_tile_columns][block_rows]: shared memory of a block\n"));
  EXPECT_THAT(text, Not(HasSubstr("residuals")));
  EXPECT_EQ(packed.constant("placing_warps"), 4);
  EXPECT_EQ(packed.constant("step_slots"), 8);
}

TEST(PackPlaced, AsksForPlacesBesideListedValuesOfDenseSteps) {
  EXPECT_TRUE(packed.packed.dense_steps && packed.packed.listed_values && packed.packed.placed_values &&
              packed.packed.splits_values);
  EXPECT_EQ(packed.packed.height, 32);
  EXPECT_EQ(packed.packed.block_row_tiles, 2);
  EXPECT_EQ(packed.packed.columns, 128);
  const LoopNest listed = pack_listed(fragment_columns(streamed_in(ScalarType::f32, {"i", 2, 2}), {"j", 16}), {"A"});
  EXPECT_FALSE(listed.packed.placed_values || listed.packed.splits_values);
}

TEST(PackPlaced, RoundsNumbersOfTensorFloats) {
  const LoopNest rounded = pack_placed(of_one_consumer_group, {"A"});
  EXPECT_FALSE(rounded.packed.splits_values);
  const std::string text = print(rounded);
  EXPECT_THAT(text, HasSubstr("place_rounded_values(Values[round][place], PlacedA[part], place, 0, "));
  EXPECT_THAT(text, HasSubstr("multiply_rounded_placed(PlacedA[part], B, "));
  EXPECT_THAT(text, Not(HasSubstr("split")));
}

TEST(PipelinedPlaces, AreMetAtInTeamsAndOnceForATurnBehindTheCopies) {
  const std::string text = print(pipelined);
  EXPECT_THAT(
      text, HasSubstr("                  place_split_values(StagedValues[stage][copy], PlacedA[part], place, member, "
                      "column_pair * row_pairs + row_pair, stage, 0, part);\n"
                      "                }\n"
                      "                barrier;  // of the consumer_group\n"
                      "                if (its < rounds) {\n"
                      "                  multiply_split_placed(PlacedA[part], StagedB[stage][part], 0, k_tile_columns, "
                      "0, tile_columns, consumer_group_warp, row_pair, column_pair, sums, stage, stage, 0, part);\n"
                      "                }\n"
                      "              }\n"
                      "              // All operands have been read, so sums may take their places.\n"
                      "              barrier;  // of the block\n"));
  EXPECT_THAT(text,
              HasSubstr("wait_for_stage(early_stages - 1);\n                barrier;  // of the consumer_group\n"));
  EXPECT_THAT(text, HasSubstr("if (member < 1) stage_packed_tile("));
  EXPECT_THAT(text, Not(HasSubstr("k_tile_at")));
}

TEST(PipelinedPlaces, OfOneTeamAreMetAtByTheBlock) {
  const std::string text = print(pipelined_for_one_consumer_group);
  EXPECT_THAT(text,
              HasSubstr("row_pair, stage, 0, part);\n              }\n              barrier;  // of the block\n"));
  EXPECT_THAT(text, Not(HasSubstr("of the consumer group")));
}

TEST(PipelinedPlaces, HaveColumnsOfBCopiedWhereTheyLie) {
  const LoopNest tokens =
      fragment_columns(mainloop(canonicalize(linear_nk_nest(ScalarType::f32)), {"i", 4, 2, 16, 2, 32}), {"j", 128, 16});
  const std::string text = print(pipeline_k_tiles(pack_placed(tokens, {"A"}), {"k", 2}));
  EXPECT_THAT(text, HasSubstr("stage_columns(B, KTiles, StagedB, first_round, rounds, rotation, s, s, part, tile, "
                              "consumer_group_thread, K, N);\n"));
  EXPECT_THAT(
      text,
      HasSubstr("multiply_split_placed(PlacedA[part], StagedB[stage][part], 0, k_tile_columns, 0, tile_columns, "));
}

TEST(CopyInBulk, IsWaitedForInFrontOfThePlaces) {
  EXPECT_THAT(
      print(copy_in_bulk(pipelined, {})),
      HasSubstr("                  wait_for_operands(iteration, stage, part);\n                  place_split_values("));
}

/// The blocks have met when sums take the places of operands, in all of them, and not before the iterations.
TEST(ClusterOfPlacedValues, MeetsWhereSumsTakeThePlacesOfOperands) {
  const std::string text = print(clustered);
  const std::string barrier = "barrier;  // of the cluster\n";
  const auto first = text.find(barrier);
  const auto second = text.find(barrier, first + 1);
  ASSERT_NE(second, text.npos);
  EXPECT_EQ(text.find(barrier, second + 1), text.npos);
  EXPECT_GT(first, text.find("store_vector(partial_sums[part - 1]"));
  EXPECT_LT(first, text.find("add_vector(sums[4*t], partial_sums["));
  EXPECT_LT(first, text.find("store_to_cluster(cluster_sums[0][rank - 1][place_of_lane + 128*t], sums[4*t], 4, 0);"));
  EXPECT_GT(second, text.find("store_to_cluster("));
  EXPECT_LT(second, text.find("add_vector(sums[4*t], cluster_sums[0][other]"));
  EXPECT_THAT(text, HasSubstr("unsigned int its = (iteration * cluster_blocks + rank) * iteration_k_tiles + part;"));
}

TEST(ClusterOfPlacedValues, OfOneTeamFindsTheLaneItsPlace) {
  EXPECT_THAT(print(pipelined_for_one_consumer_group), Not(HasSubstr("place_of_lane")));
  const std::string text = print(cluster_iterations(pipelined_for_one_consumer_group, {"k", 2}));
  const auto place = text.find("int place_of_lane = consumer_group_warp * lane_products * 128 +");
  ASSERT_NE(place, text.npos);
  EXPECT_LT(place, text.find("barrier;  // of the cluster"));
  EXPECT_LT(text.find("barrier;  // of the cluster"), text.find("store_to_cluster("));
}

// Values that are placed an iteration ahead.

/// Two consumer groups of four warps.
const LoopNest two_consumer_groups =
    fragment_columns(streamed_in(ScalarType::f32, {"i", 1, 8, 48, 4, 32}), {"j", 64, 16});

LoopNest placed_ahead(const LoopNest& nest) { return warp_specialize(copy_in_bulk(nest, {}), {"A"}); }

LoopNest in_stages(const LoopNest& nest, int stages) {
  return pipeline_k_tiles(pack_placed(nest, {"A"}), {"k", stages});
}

/// Who multiplies takes the iteration before the one that is placed, of which both buffers have one.
TEST(WarpSpecialize, GivesCopiesAndPlacesToOtherWarps) {
  const LoopNest ahead = placed_ahead(in_stages(two_consumer_groups, 3));
  const std::string text = print(ahead);
  EXPECT_THAT(text, HasSubstr("iteration < iterations + 1; iteration++"));
  EXPECT_THAT(text, HasSubstr("barrier;  // of the consumer_group\n"
                              "                  if (role < 1) {\n"
                              "                    if (0 < iteration) {\n"));
  EXPECT_THAT(text,
              HasSubstr("int buffer = (iteration - 1) % buffers;\n"
                        "                      if (its < rounds) {\n"
                        "                        multiply_split_placed(PlacedA[buffer][part], StagedB[stage][part], 0, "
                        "k_tile_columns, 0, tile_columns, consumer_group_warp, row_pair, column_pair, sums, stage, "
                        "stage, buffer, part);\n"));
  EXPECT_THAT(
      text,
      HasSubstr("int stage = (iteration - 1) % stages;\n                      unsigned int its = (iteration - 1) * "
                "iteration_k_tiles + part;\n"));
  EXPECT_THAT(text,
              HasSubstr("int buffer = iteration % buffers;\n"
                        "                    if (its < rounds) {\n"
                        "                      wait_for_operands(iteration, stage, part);\n"
                        "                      place_split_values(StagedValues[stage][copy], PlacedA[buffer][part], "
                        "place, member, column_pair * row_pairs + row_pair, stage, buffer, part);\n"));
  EXPECT_THAT(text, HasSubstr("if (0 < role) {\n                  for (s = 0; s < early_stages; s++) {\n"));
  EXPECT_EQ(ahead.constant("early_stages"), 1);
  EXPECT_EQ(ahead.constant("roles"), 2);
  EXPECT_EQ(ahead.constant("threads_per_block"), 2 * two_consumer_groups.constant("threads_per_block"));
  EXPECT_EQ(ahead.constant("consumer_group_threads"), two_consumer_groups.constant("consumer_group_threads"));
  EXPECT_EQ(ahead.consumer_group, "part");
}

TEST(WarpSpecialize, HasSumsStoredByThoseWhoMultiply) {
  const std::string text = print(placed_ahead(in_stages(two_consumer_groups, 3)));
  const auto iterations = text.find("iteration < iterations + 1");
  const auto leaves = text.find("if (role < 1) {\n                  if (0 < part) {\n", iterations);
  ASSERT_NE(leaves, text.npos);
  EXPECT_NE(text.find("if (role < 1) {\n                  if (part < 1) {\n", leaves), text.npos);
}

/// A block of 512 threads gives each of them 128.
TEST(WarpSpecialize, ExchangesRegistersWhereThreadsAreMany) {
  const LoopNest ahead = placed_ahead(in_stages(two_consumer_groups, 4));
  ASSERT_EQ(ahead.constant("threads_per_block"), 512);
  EXPECT_EQ(ahead.constant("multiplying_registers"), 200);
  EXPECT_EQ(ahead.constant("placing_registers"), 56);
  EXPECT_THAT(print(ahead), HasSubstr("take_registers(multiplying_registers);"));
  const LoopNest fewer = placed_ahead(in_stages(of_one_consumer_group, 4));
  EXPECT_THAT(print(fewer), Not(HasSubstr("take_registers")));
}

TEST(PlaceEpilogue, FinishesTheSumsOfColumnsOfWarps) {
  LoopNest nest = spmm_nest(ScalarType::f32);
  nest.epilogue =
      Epilogue{{"i", "j"}, "sum", {}, Expression(Name{"sum"}) + Expression(element("bias", {Affine::of("i")}))};
  nest.arrays.push_back({"bias", {Affine::of("M")}, ArrayRole::operand, ScalarType::f32});
  const StreamSchedule schedule{.columns = 64, .dense = StreamSchedule::Dense::placed};
  const LoopNest lowered = lower(nest, directives_of({schedule, "user"}, true));
  EXPECT_THAT(print(lowered), HasSubstr("= sum_ + "));
  EXPECT_FALSE(lowered.epilogue.has_value());
}

TEST(PlacedPipeline, NamesEveryStepInOrder) {
  std::vector<std::string> names;
  const StreamSchedule schedule{
      .columns = 64, .row_tiles = 2, .share = 2, .rows = 32, .dense = StreamSchedule::Dense::placed};
  for (const LoweredStep& step :
       lower_by_steps(spmm_nest(ScalarType::tf32), directives_of({schedule, "user"}, false))) {
    names.push_back(step.name);
  }
  EXPECT_THAT(names, testing::ElementsAre(
                         "input", "canonicalize", "mainloop(i, row_tiles=2, warps=2, warp_m=32, split_k=2, tile_k=32)",
                         "fragment(j, 64, warp_n=16)", "transform(A, decompress)", "pipeline(k, 4)", "pdl()"));
}

// Must refuse: a step, and words of the reason.

INSTANTIATE_TEST_SUITE_P(
    Placed, RefusedStep,
    testing::Values(
        StepRefusal{
            "K tiles of 16 columns", [] { streamed_in(ScalarType::f32, {"i", 4, 1, 16, 1, 16}); },
            "mainloop(i, row_tiles=4, warps=1, tile_k=16): tile_k=16 is none that values are stored for; leave it "
            "out, or write tile_k=32 before transform(A, decompress)"},
        StepRefusal{
            "8 columns of a warp", [] { fragment_columns(streamed, {"j", 64, 8}); },
            "fragment(j, 64, warp_n=8): the tensor core gives a warp 16 of the columns that four warps multiply "
            "at once; the nearest legal value is 16"},
        StepRefusal{"columns for three warps",
                    [] { fragment_columns(streamed_in(ScalarType::f32, {"i", 3, 1, 16, 1, 32}), {"j", 48, 16}); },
                    "fragment(j, 48, warp_n=16): 3 warps multiply the same K tiles, and the tensor core takes what "
                    "four of them have at once; choose row_tiles and split_k so that their product is 4 or 8"},
        StepRefusal{"columns for sixteen warps",
                    [] { fragment_columns(streamed_in(ScalarType::f32, {"i", 4, 4, 16, 4, 32}), {"j", 256, 16}); },
                    "16 warps multiply the same K tiles"},
        StepRefusal{"columns for half of the warps", [] { fragment_columns(streamed, {"j", 64, 16}); },
                    "fragment(j, 64, warp_n=16): 8 warps with 16 columns each multiply the same K tiles; the nearest "
                    "legal value is 128"},
        StepRefusal{"place too early", [] { pack_placed(streamed, {"A"}); },
                    "transform(A, decompress): the warps have no columns of their own; stream the rows and give the "
                    "warps their columns first: mainloop(i, row_tiles=2, warps=8, warp_m=32, split_k=4, tile_k=32); "
                    "fragment(j, 128, warp_n=16)"},
        StepRefusal{"place for warps of row tiles", [] { pack_placed(fragment_columns(streamed, {"j", 64}), {"A"}); },
                    "the warps have no columns of their own"},
        StepRefusal{"place the dense array", [] { pack_placed(fragmented, {"B"}); },
                    "'B' is not a sparse array of the nest"},
        StepRefusal{"place twice", [] { pack_placed(packed, {"A"}); }, "'A' is not a sparse array of the nest"},
        StepRefusal{"place halves",
                    [] {
                      pack_placed(fragment_columns(streamed_in(ScalarType::f16, {"i", 4, 1, 16, 1, 32}), {"j", 64, 16}),
                                  {"A"});
                    },
                    "transform(A, decompress): fragments have elements of 32 bits, and f16 has 16; write transform(A, "
                    "bitmap), or --schedule bitmap"},
        StepRefusal{"place doubles",
                    [] {
                      pack_placed(fragment_columns(streamed_in(ScalarType::f64, {"i", 4, 1, 16, 1, 32}), {"j", 64, 16}),
                                  {"A"});
                    },
                    "fragments have elements of 32 bits, and f64 has 64; choose --dtype f32 or tf32"},
        StepRefusal{
            "place in usual K tiles",
            [] { pack_placed(fragment_columns(streamed_in(ScalarType::f32, {"i", 4, 1}), {"j", 64, 16}), {"A"}); },
            "K tiles have 128 columns, and places are for 32; write tile_k=32 in mainloop()"},
        StepRefusal{
            "place in 256 rows",
            [] {
              pack_placed(fragment_columns(streamed_in(ScalarType::f32, {"i", 8, 1, 32, 1, 32}), {"j", 128, 16}),
                          {"A"});
            },
            "a block has 256 rows, and the lanes of 8 warps have registers for the sums of 192; choose row_tiles "
            "and warp_m so that their product is 192 at most"},
        StepRefusal{
            "row tiles of 24 rows", [] { streamed_in(ScalarType::f32, {"i", 4, 1, 24, 1, 32}); },
            "warp_m=24 is no row tile of the tensor core; it multiplies 16 rows at once: write a multiple of 16, "
            "192 at most"},
        StepRefusal{"row tiles of 208 rows", [] { streamed_in(ScalarType::f32, {"i", 1, 4, 208, 4, 32}); },
                    "warp_m=208 is no row tile of the tensor core"},
        StepRefusal{"row tiles of 48 rows in usual K tiles", [] { streamed_in(ScalarType::f32, {"i", 4, 1, 48}); },
                    "write a multiple of 16, 32 at most"},
        StepRefusal{"fragments of columns of warps", [] { pack_fragments(fragmented, {"A"}); },
                    "transform(A, sparse24): the warps have columns of their own, in which they multiply what is "
                    "placed in shared memory; place it there: transform(A, decompress)"},
        StepRefusal{"dense steps of columns of warps", [] { pack_dense(fragmented, {"A"}); },
                    "transform(A, dense): the warps have columns of their own"},
        StepRefusal{"listed values of columns of warps", [] { pack_listed(fragmented, {"A"}); },
                    "transform(A, compressed): the warps have columns of their own"},
        StepRefusal{"pipeline columns of warps", [] { pipeline_k_tiles(fragmented, {"k", 3}); },
                    "the sparse array is not stored in fragments"},
        StepRefusal{"place ahead what is listed",
                    [] {
                      warp_specialize(
                          pipeline_k_tiles(
                              pack_listed(fragment_columns(streamed_in(ScalarType::f32, {"i", 2, 2}), {"j", 16}),
                                          {"A"}),
                              {"k", 3}),
                          {"A"});
                    },
                    "warp_specialize(A): no values of the sparse array are decompressed; decompress them first: "
                    "transform(A, decompress)"},
        StepRefusal{"place ahead of no copies", [] { warp_specialize(packed, {"A"}); },
                    "warp_specialize(A): nothing is copied ahead of its use; copy it first: pipeline(k, 4)"},
        StepRefusal{
            "place ahead of copies by lanes", [] { warp_specialize(in_stages(of_one_consumer_group, 3), {"A"}); },
            "warp_specialize(A): the copies have no barriers, at which those who place wait for them; let them come in "
            "bulk first: copy(tma)"},
        StepRefusal{
            "place ahead in two stages", [] { placed_ahead(in_stages(of_one_consumer_group, 2)); },
            "warp_specialize(A): copies of 2 stages are not an iteration ahead of who places an iteration ahead; write "
            "pipeline(k, 3)"},
        StepRefusal{"place the dense array ahead",
                    [] { warp_specialize(copy_in_bulk(in_stages(of_one_consumer_group, 3), {}), {"B"}); },
                    "warp_specialize(B): no values of the sparse array are decompressed"},
        StepRefusal{"place ahead twice",
                    [] { warp_specialize(placed_ahead(in_stages(of_one_consumer_group, 3)), {"A"}); },
                    "warp_specialize(A): the values are placed ahead already; ask for that once"},
        StepRefusal{
            "deal iterations of which values are placed ahead",
            [] { cluster_iterations(placed_ahead(in_stages(of_one_consumer_group, 3)), {"k", 2}); },
            "cluster(k, 2): warps of their own place values ahead of these iterations; deal the iterations before "
            "warp_specialize()"}));

}  // namespace
}  // namespace esc
