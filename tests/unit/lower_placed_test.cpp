// SPDX-License-Identifier: Apache-2.0
// Values that are placed in shared memory, and warps with columns of C of their own, which multiply them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "generator/ir/build.h"
#include "generator/ir/linear_nk_nest.h"
#include "generator/ir/print.h"
#include "generator/lower/canonicalize.h"
#include "generator/lower/cluster_turns.h"
#include "generator/lower/copy_in_bulk.h"
#include "generator/lower/fragment_columns.h"
#include "generator/lower/pack_fragments.h"
#include "generator/lower/pack_placed.h"
#include "generator/lower/pipeline_windows.h"
#include "generator/lower/place_ahead.h"
#include "generator/lower/quarter_steps.h"
#include "generator/lower/stream_windows.h"
#include "generator/pipeline.h"
#include "generator/schedule/schedule_choice.h"
#include "tests/unit/refused_step.h"

namespace esc {
namespace {

using testing::HasSubstr;
using testing::Not;

LoopNest streamed_in(ScalarType element, const StreamWindows& directive) {
  return stream_windows(canonicalize(spmm_nest(element)), directive);
}

/// Two teams of eight warps: two panels of 32 rows, four warps for each.
const LoopNest streamed = streamed_in(ScalarType::f32, {"i", 2, 8, 32, 4, 32});
const LoopNest fragmented = fragment_columns(streamed, {"j", 128, 16});
const LoopNest packed = pack_placed(fragmented, {"A"});
const LoopNest pipelined = pipeline_windows(packed, {"k", 3});
const LoopNest clustered = cluster_turns(pipelined, {"k", 2});

/// One team: four panels of 16 rows, a warp for each.
const LoopNest of_one_team = fragment_columns(streamed_in(ScalarType::tf32, {"i", 4, 1, 16, 1, 32}), {"j", 64, 16});
const LoopNest pipelined_for_one_team = pipeline_windows(pack_placed(of_one_team, {"A"}), {"k", 2});

// Must apply: a nest, and what stands in the result.

TEST(PlacedWindows, HaveTheColumnsThatPlacesAreFor) {
  EXPECT_THAT(print(streamed), HasSubstr("// windows = ceil(K / 32)\n"));
  EXPECT_EQ(streamed.constant("window_columns"), 32);
}

/// Four consecutive warps multiply at once, so they are of one team.
TEST(PlacedWindows, AreMultipliedByConsecutiveWarps) {
  EXPECT_THAT(
      print(streamed),
      HasSubstr("  warps (part = 0; part < turn_windows; part++)  // part = a digit of threadIdx.x / 32\n"
                "    warps (member = 0; member < window_warps; member++)  // member = a digit of threadIdx.x / 32\n"
                "      warps (place = 0; place < block_panels; place++) {  // place = a digit of threadIdx.x / 32\n"));
}

TEST(FragmentColumnsOfWarps, AreInTheRowsOfAllPanels) {
  const std::string text = print(fragmented);
  EXPECT_THAT(text, HasSubstr("int team_warp = member * block_panels + place;\n"));
  EXPECT_THAT(text, HasSubstr("unsigned int i = block * block_rows + e / 2 * 8 + 2*row_pair + e % 2;\n"));
  EXPECT_THAT(text, HasSubstr("unsigned int j = tile * tile_columns + team_warp * warp_columns + 2*column_pair;\n"));
  EXPECT_THAT(text, HasSubstr("for (slot = 0; slot < window_columns; slot++) {\n"))
      << "all of a window, whoever shares it";
  EXPECT_THAT(text,
              HasSubstr("if (j + v < N && i < M && k < K && A[i][k] != 0) sums[2*e + v] += A[i][k] * B[k][j + v];"));
  EXPECT_THAT(text, Not(HasSubstr("panel = ")));
  EXPECT_EQ(fragmented.constant("lane_sums"), 64 * 16 / 32) << "of 64 rows and 16 columns";
  EXPECT_EQ(of_one_team.constant("lane_sums"), 64 * 16 / 32);
}

/// They take the places of operands, which every team must have read.
TEST(FragmentColumnsOfWarps, LeaveTheirSumsBehindABarrierForTheFirstTeam) {
  const std::string text = print(fragmented);
  EXPECT_THAT(text, HasSubstr("              barrier;  // of the block\n"
                              "              int place_of_lane = team_warp * lane_products * 128 + (column_pair * "
                              "row_pairs + row_pair) * 4;\n"
                              "              if (0 < part) {\n"));
  EXPECT_THAT(text, HasSubstr("              barrier;  // of the block\n"
                              "              if (part < 1) {\n"
                              "                for (other = 0; other < other_warps; other++)  // unrolled\n"));
  EXPECT_EQ(fragmented.constant("other_warps"), 1);
  EXPECT_EQ(fragmented.constant("block_sums"), 64 * 128);
}

TEST(FragmentColumnsOfWarps, OfOneTeamAreStoredByEachWarp) {
  const std::string text = print(of_one_team);
  EXPECT_THAT(text, HasSubstr("int team_warp = place;\n"));
  EXPECT_THAT(text, Not(HasSubstr("partial_sums")));
  EXPECT_THAT(text, Not(HasSubstr("barrier")));
}

TEST(PackPlaced, PlacesMeetsAndMultiplies) {
  const std::string text = print(packed);
  const std::string of_round =
      "                  unsigned int turned = its + rotation;\n"
      "                  unsigned int round = first_round + (turned < rounds ? turned : turned - rounds);\n"
      "                  window = window_at(Windows, round, first_round);\n";
  EXPECT_THAT(text, HasSubstr("                if (its < rounds) {\n" + of_round +
                              "                  place_split_values(Values[round][place], PlacedA[part], place, "
                              "member, column_pair * row_pairs + row_pair, 0, 0, part);\n"
                              "                }\n"
                              "                barrier;  // of the block\n"
                              "                if (its < rounds) {\n" +
                              of_round +
                              "                  multiply_split_placed(PlacedA[part], B, window * window_columns, K, "
                              "tile * tile_columns, N, team_warp, row_pair, column_pair, sums, 0, 0, 0, part);\n"
                              "                }\n"
                              "                barrier;  // of the block\n"));
  EXPECT_THAT(text, HasSubstr("// PlacedA[turn_windows][window_columns][block_rows]: shared memory of a block\n"));
  EXPECT_THAT(text, Not(HasSubstr("extras")));
  EXPECT_EQ(packed.constant("placing_warps"), 4);
  EXPECT_EQ(packed.constant("step_slots"), 8);
}

TEST(PackPlaced, AsksForPlacesBesideListedValuesOfDenseSteps) {
  EXPECT_TRUE(packed.packed.dense_steps && packed.packed.listed_values && packed.packed.placed_values &&
              packed.packed.splits_values);
  EXPECT_EQ(packed.packed.height, 32);
  EXPECT_EQ(packed.packed.block_panels, 2);
  EXPECT_EQ(packed.packed.columns, 128);
  const LoopNest listed = pack_listed(fragment_columns(streamed_in(ScalarType::f32, {"i", 2, 2}), {"j", 16}), {"A"});
  EXPECT_FALSE(listed.packed.placed_values || listed.packed.splits_values);
}

TEST(PackPlaced, RoundsNumbersOfTensorFloats) {
  const LoopNest rounded = pack_placed(of_one_team, {"A"});
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
                      "                barrier;  // of the team\n"
                      "                if (its < rounds) {\n"
                      "                  multiply_split_placed(PlacedA[part], StagedB[stage][part], 0, window_columns, "
                      "0, tile_columns, team_warp, row_pair, column_pair, sums, stage, stage, 0, part);\n"
                      "                }\n"
                      "              }\n"
                      "              // From here on the operands have been read, so that sums may take their places.\n"
                      "              barrier;  // of the block\n"));
  EXPECT_THAT(text, HasSubstr("wait_for_stage(early_stages - 1);\n                barrier;  // of the team\n"));
  EXPECT_THAT(text, HasSubstr("if (member < 1) stage_unit("));
  EXPECT_THAT(text, Not(HasSubstr("window_at")));
}

TEST(PipelinedPlaces, OfOneTeamAreMetAtByTheBlock) {
  const std::string text = print(pipelined_for_one_team);
  EXPECT_THAT(text,
              HasSubstr("row_pair, stage, 0, part);\n              }\n              barrier;  // of the block\n"));
  EXPECT_THAT(text, Not(HasSubstr("of the team")));
}

TEST(PipelinedPlaces, HaveColumnsOfBCopiedWhereTheyLie) {
  const LoopNest tokens = fragment_columns(
      stream_windows(canonicalize(linear_nk_nest(ScalarType::f32)), {"i", 4, 2, 16, 2, 32}), {"j", 128, 16});
  const std::string text = print(pipeline_windows(pack_placed(tokens, {"A"}), {"k", 2}));
  EXPECT_THAT(
      text,
      HasSubstr(
          "stage_columns(B, Windows, StagedB, first_round, rounds, rotation, s, s, part, tile, team_thread, K, N);\n"));
  EXPECT_THAT(
      text,
      HasSubstr("multiply_split_placed(PlacedA[part], StagedB[stage][part], 0, window_columns, 0, tile_columns, "));
}

TEST(CopyInBulk, IsWaitedForInFrontOfThePlaces) {
  EXPECT_THAT(
      print(copy_in_bulk(pipelined, {})),
      HasSubstr("                  wait_for_operands(turn, stage, part);\n                  place_split_values("));
}

/// The blocks have met when sums take the places of operands, in all of them, and not in front of the turns.
TEST(ClusterOfPlacedValues, MeetsWhereSumsTakeThePlacesOfOperands) {
  const std::string text = print(clustered);
  const std::string barrier = "barrier;  // of the cluster\n";
  const auto first = text.find(barrier);
  const auto second = text.find(barrier, first + 1);
  ASSERT_NE(second, text.npos);
  EXPECT_EQ(text.find(barrier, second + 1), text.npos);
  EXPECT_GT(first, text.find("store_vector(partial_sums[part - 1]"));
  EXPECT_LT(first, text.find("add_vector(sums[4*t], partial_sums["));
  EXPECT_LT(first, text.find("leave_vector(cluster_sums[0][rank - 1][place_of_lane + 128*t], sums[4*t], 4, 0);"));
  EXPECT_GT(second, text.find("leave_vector("));
  EXPECT_LT(second, text.find("add_vector(sums[4*t], cluster_sums[0][other]"));
  EXPECT_THAT(text, HasSubstr("unsigned int its = (turn * cluster_blocks + rank) * turn_windows + part;"));
}

TEST(ClusterOfPlacedValues, OfOneTeamFindsTheLaneItsPlace) {
  EXPECT_THAT(print(pipelined_for_one_team), Not(HasSubstr("place_of_lane")));
  const std::string text = print(cluster_turns(pipelined_for_one_team, {"k", 2}));
  const auto place = text.find("int place_of_lane = team_warp * lane_products * 128 +");
  ASSERT_NE(place, text.npos);
  EXPECT_LT(place, text.find("barrier;  // of the cluster"));
  EXPECT_LT(text.find("barrier;  // of the cluster"), text.find("leave_vector("));
}

// Values that are placed a turn ahead.

/// Two teams of four warps.
const LoopNest two_teams = fragment_columns(streamed_in(ScalarType::f32, {"i", 1, 8, 48, 4, 32}), {"j", 64, 16});

LoopNest placed_ahead(const LoopNest& nest) { return place_ahead(copy_in_bulk(nest, {}), {"A"}); }

LoopNest in_stages(const LoopNest& nest, int stages) {
  return pipeline_windows(pack_placed(nest, {"A"}), {"k", stages});
}

/// Who multiplies takes the turn in front of the one that is placed, of which both buffers have one.
TEST(PlaceAhead, GivesCopiesAndPlacesToOtherWarps) {
  const LoopNest ahead = placed_ahead(in_stages(two_teams, 3));
  const std::string text = print(ahead);
  EXPECT_THAT(text, HasSubstr("turn < turns + 1; turn++"));
  EXPECT_THAT(text, HasSubstr("barrier;  // of the team\n"
                              "                  if (role < 1) {\n"
                              "                    if (0 < turn) {\n"));
  EXPECT_THAT(text,
              HasSubstr("int buffer = (turn - 1) % buffers;\n"
                        "                      if (its < rounds) {\n"
                        "                        multiply_split_placed(PlacedA[buffer][part], StagedB[stage][part], 0, "
                        "window_columns, 0, tile_columns, team_warp, row_pair, column_pair, sums, stage, "
                        "stage, buffer, part);\n"));
  EXPECT_THAT(text, HasSubstr("int stage = (turn - 1) % stages;\n                      unsigned int its = (turn - 1) * "
                              "turn_windows + part;\n"));
  EXPECT_THAT(text,
              HasSubstr("int buffer = turn % buffers;\n"
                        "                    if (its < rounds) {\n"
                        "                      wait_for_operands(turn, stage, part);\n"
                        "                      place_split_values(StagedValues[stage][copy], PlacedA[buffer][part], "
                        "place, member, column_pair * row_pairs + row_pair, stage, buffer, part);\n"));
  EXPECT_THAT(text, HasSubstr("if (0 < role) {\n                  for (s = 0; s < early_stages; s++) {\n"));
  EXPECT_EQ(ahead.constant("early_stages"), 1);
  EXPECT_EQ(ahead.constant("roles"), 2);
  EXPECT_EQ(ahead.constant("threads_per_block"), 2 * two_teams.constant("threads_per_block"));
  EXPECT_EQ(ahead.constant("team_threads"), two_teams.constant("team_threads"));
  EXPECT_EQ(ahead.team, "part");
}

TEST(PlaceAhead, HasSumsStoredByThoseWhoMultiply) {
  const std::string text = print(placed_ahead(in_stages(two_teams, 3)));
  const auto turns = text.find("turn < turns + 1");
  const auto leaves = text.find("if (role < 1) {\n                  if (0 < part) {\n", turns);
  ASSERT_NE(leaves, text.npos);
  EXPECT_NE(text.find("if (role < 1) {\n                  if (part < 1) {\n", leaves), text.npos);
}

/// A block of 512 threads gives each of them 128.
TEST(PlaceAhead, ExchangesRegistersWhereThreadsAreMany) {
  const LoopNest ahead = placed_ahead(in_stages(two_teams, 4));
  ASSERT_EQ(ahead.constant("threads_per_block"), 512);
  EXPECT_EQ(ahead.constant("multiplying_registers"), 200);
  EXPECT_EQ(ahead.constant("placing_registers"), 56);
  EXPECT_THAT(print(ahead), HasSubstr("take_registers(multiplying_registers);"));
  const LoopNest fewer = placed_ahead(in_stages(of_one_team, 4));
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
      .columns = 64, .panels = 2, .share = 2, .rows = 32, .dense = StreamSchedule::Dense::placed};
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
            "windows of 16 columns", [] { streamed_in(ScalarType::f32, {"i", 4, 1, 16, 1, 16}); },
            "mainloop(i, row_tiles=4, warps=1, tile_k=16): tile_k=16 is none that values are stored for; leave it "
            "out, or write tile_k=32 before transform(A, decompress)"},
        StepRefusal{
            "8 columns of a warp", [] { fragment_columns(streamed, {"j", 64, 8}); },
            "fragment(j, 64, warp_n=8): the tensor core gives a warp 16 of the columns that four warps multiply "
            "at once; the nearest legal value is 16"},
        StepRefusal{
            "columns for three warps",
            [] { fragment_columns(streamed_in(ScalarType::f32, {"i", 3, 1, 16, 1, 32}), {"j", 48, 16}); },
            "fragment(j, 48, warp_n=16): 3 warps multiply the same windows, and the tensor core takes what four "
            "of them have at once; "
            "choose panels and share so that their product is 4 or 8"},
        StepRefusal{"columns for sixteen warps",
                    [] { fragment_columns(streamed_in(ScalarType::f32, {"i", 4, 4, 16, 4, 32}), {"j", 256, 16}); },
                    "16 warps multiply the same windows"},
        StepRefusal{"columns for half of the warps", [] { fragment_columns(streamed, {"j", 64, 16}); },
                    "fragment(j, 64, warp_n=16): 8 warps with 16 columns each multiply the same windows; the nearest "
                    "legal value is 128"},
        StepRefusal{
            "place too early", [] { pack_placed(streamed, {"A"}); },
            "transform(A, decompress): the warps have no columns of their own; stream the rows and give the warps "
            "their columns first: "
            "mainloop(i, row_tiles=2, warps=8, warp_m=32, split_k=4, tile_k=32); fragment(j, 128, warp_n=16)"},
        StepRefusal{"place for warps of panels", [] { pack_placed(fragment_columns(streamed, {"j", 64}), {"A"}); },
                    "the warps have no columns of their own"},
        StepRefusal{"place the dense array", [] { pack_placed(fragmented, {"B"}); },
                    "'B' is not a sparse array of the nest"},
        StepRefusal{"place twice", [] { pack_placed(packed, {"A"}); }, "'A' is not a sparse array of the nest"},
        StepRefusal{"place halves",
                    [] {
                      pack_placed(fragment_columns(streamed_in(ScalarType::f16, {"i", 4, 1, 16, 1, 32}), {"j", 64, 16}),
                                  {"A"});
                    },
                    "numbers of 16 bits are not placed for the tensor core; list them: transform(A, compressed); or "
                    "choose --dtype "
                    "f32 or tf32"},
        StepRefusal{"place doubles",
                    [] {
                      pack_placed(fragment_columns(streamed_in(ScalarType::f64, {"i", 4, 1, 16, 1, 32}), {"j", 64, 16}),
                                  {"A"});
                    },
                    "the tensor cores that this is for multiply numbers of 16 bits and terms of float32"},
        StepRefusal{
            "place in usual windows",
            [] { pack_placed(fragment_columns(streamed_in(ScalarType::f32, {"i", 4, 1}), {"j", 64, 16}), {"A"}); },
            "windows have 128 columns, and places are for 32; write tile_k=32 in mainloop()"},
        StepRefusal{"place in 256 rows",
                    [] {
                      pack_placed(
                          fragment_columns(streamed_in(ScalarType::f32, {"i", 8, 1, 32, 1, 32}), {"j", 128, 16}),
                          {"A"});
                    },
                    "a block has 256 rows, and the lanes of 8 warps have registers for the sums of 192; choose panels "
                    "and rows so that their product is 192 at most"},
        StepRefusal{"panels of 24 rows", [] { streamed_in(ScalarType::f32, {"i", 4, 1, 24, 1, 32}); },
                    "rows=24 is no panel of the tensor core; it multiplies 16 rows at once: write a multiple of 16, "
                    "192 at most"},
        StepRefusal{"panels of 208 rows", [] { streamed_in(ScalarType::f32, {"i", 1, 4, 208, 4, 32}); },
                    "rows=208 is no panel of the tensor core"},
        StepRefusal{"panels of 48 rows in usual windows", [] { streamed_in(ScalarType::f32, {"i", 4, 1, 48}); },
                    "write a multiple of 16, 32 at most"},
        StepRefusal{"fragments of columns of warps", [] { pack_fragments(fragmented, {"A"}); },
                    "transform(A, sparse24): the warps have columns of their own, in which they multiply what is "
                    "placed in shared memory; place it there: transform(A, decompress)"},
        StepRefusal{"dense steps of columns of warps", [] { pack_dense(fragmented, {"A"}); },
                    "transform(A, dense): the warps have columns of their own"},
        StepRefusal{"listed values of columns of warps", [] { pack_listed(fragmented, {"A"}); },
                    "transform(A, compressed): the warps have columns of their own"},
        StepRefusal{"pipeline columns of warps", [] { pipeline_windows(fragmented, {"k", 3}); },
                    "the sparse array is not stored in fragments"},
        StepRefusal{
            "place ahead what is listed",
            [] {
              place_ahead(
                  pipeline_windows(
                      pack_listed(fragment_columns(streamed_in(ScalarType::f32, {"i", 2, 2}), {"j", 16}), {"A"}),
                      {"k", 3}),
                  {"A"});
            },
            "warp_specialize(A): no values of the sparse array are placed; place them first: transform(A, decompress)"},
        StepRefusal{"place ahead of no copies", [] { place_ahead(packed, {"A"}); },
                    "warp_specialize(A): nothing is copied ahead of its use; copy it first: pipeline(k, 4)"},
        StepRefusal{
            "place ahead of copies by lanes", [] { place_ahead(in_stages(of_one_team, 3), {"A"}); },
            "warp_specialize(A): the copies have no barriers, at which those who place wait for them; let them come in "
            "bulk first: copy(tma)"},
        StepRefusal{"place ahead in two stages", [] { placed_ahead(in_stages(of_one_team, 2)); },
                    "warp_specialize(A): copies of 2 stages are not a turn ahead of who places a turn ahead; write "
                    "pipeline(k, 3)"},
        StepRefusal{"place the dense array ahead",
                    [] { place_ahead(copy_in_bulk(in_stages(of_one_team, 3), {}), {"B"}); },
                    "warp_specialize(B): no values of the sparse array are placed"},
        StepRefusal{"place ahead twice", [] { place_ahead(placed_ahead(in_stages(of_one_team, 3)), {"A"}); },
                    "warp_specialize(A): the values are placed ahead already; ask for that once"},
        StepRefusal{"deal turns of which values are placed ahead",
                    [] { cluster_turns(placed_ahead(in_stages(of_one_team, 3)), {"k", 2}); },
                    "cluster(k, 2): warps of their own place values ahead of these turns; deal the turns before "
                    "warp_specialize()"},
        StepRefusal{"quarter placed values", [] { quarter_steps(packed, {"A"}); },
                    "sparse14(A): its steps have the columns as they stand, none of which is left out"}));

}  // namespace
}  // namespace esc
