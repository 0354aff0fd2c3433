// SPDX-License-Identifier: Apache-2.0
// Tiles of the tensor core whose fragments of A are found by their bits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "generator/emit/built_architectures.h"
#include "generator/ir/linear_nk_nest.h"
#include "generator/ir/print.h"
#include "generator/lower/canonicalize.h"
#include "generator/lower/cluster_iterations.h"
#include "generator/lower/fragment_columns.h"
#include "generator/lower/mainloop.h"
#include "generator/lower/pack_bitmap.h"
#include "generator/lower/pack_sparse24.h"
#include "generator/lower/pipeline_tiles.h"
#include "generator/lower/store_tiles.h"
#include "generator/pipeline.h"
#include "generator/schedule/schedule.h"
#include "generator/schedule/schedule_choice.h"
#include "tests/support/run_size.h"
#include "tests/unit/refused_step.h"

namespace esc {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

LoopNest fragmented(const LoopNest& nest, int warps = 2) {
  return fragment_columns(mainloop(canonicalize(nest), {"i", 2, warps}), {"j", 16});
}

const LoopNest of_halves = fragmented(spmm_nest(ScalarType::f16));
const LoopNest packed = pack_bitmap(of_halves, {"A"});
const LoopNest of_warpgroups = pack_bitmap(
    fragment_columns(mainloop(canonicalize(spmm_nest(ScalarType::f16)), {"i", 4, 1}), {"j", 128}), {"A", 4});
const LoopNest of_tokens = pack_bitmap(fragmented(linear_nk_nest(ScalarType::bf16)), {"A"});
const LoopNest pipelined = pipeline_tiles(packed, {"k", 3, 2});

std::string without_blanks_in_front(const std::string& text) {
  std::string result;
  for (const char character : text) {
    if (character != ' ' || (!result.empty() && result.back() != '\n')) {
      result += character;
    }
  }
  return result;
}

TEST(PackBitmap, FindsFragmentsByTheirBits) {
  EXPECT_THAT(without_blanks_in_front(print(packed)),
              HasSubstr("for (iteration = 0; iteration < iterations; iteration++) {\n"
                        "unsigned int k_tile = iteration * k_tiles_of_iteration + first_k_tile;\n"
                        "if ((0 < k_tiles % k_tiles_of_iteration ? k_tile < k_tiles : 1) && row_tile < row_tiles) {\n"
                        "find_words(PackedTileWords[packed_tile_row_tile][k_tile], 0, 0, lane, word_at);\n"
                        "for (half = 0; half < 2; half++) {  // unrolled\n"
                        "load_bits(Bits[packed_tile_row_tile][k_tile], half, 0, 0, lane, bits);\n"
                        "for (block_of_pair = 0; block_of_pair < 2; block_of_pair++) {  // unrolled\n"
                        "find_places(bits[block_of_pair], -2*block_of_pair + 1, places, word_at[block_of_pair]);\n"
                        "for (t = 0; t < 4; t++)  // unrolled\n"
                        "load_a(Values[packed_tile_row_tile][k_tile], OddColumns[packed_tile_row_tile][k_tile], "
                        "places, -2*block_of_pair + "
                        "1, 4*t, lane, a[t]);\n"
                        "for (n8_tile = 0; n8_tile < n8_tiles; n8_tile++)  // unrolled\n"
                        "for (group = 0; group < 2; group++) {  // unrolled\n"
                        "load_b(B, k_tile * k_tile_columns + 128*half, 64*block_of_pair + 32*group, tile * "
                        "tile_columns, n8_tile, K, N, 0, part, lane, b);\n"
                        "for (q = 0; q < 2; q++)  // unrolled\n"
                        "mma(pair_sums[block_of_pair][4*n8_tile], a[2*group + q], b[q]);\n"));
}

TEST(PackSparse24, LoadsWhatTheSparseTensorCoreTakes) {
  const LoopNest sparse24 = pack_sparse24(of_halves, {"A"});
  EXPECT_THAT(
      without_blanks_in_front(print(sparse24)),
      HasSubstr("if ((0 < k_tiles % k_tiles_of_iteration ? k_tile < k_tiles : 1) && row_tile < row_tiles) {\n"
                "for (half = 0; half < 2; half++) {  // unrolled\n"
                "load_bits(Metadata[packed_tile_row_tile][k_tile], half, 0, 0, lane, bits);\n"
                "for (block_of_pair = 0; block_of_pair < 2; block_of_pair++) {  // unrolled\n"
                "for (group = 0; group < 2; group++)  // unrolled\n"
                "load_sparse_a(Values[packed_tile_row_tile][k_tile], block_of_pair + 2*half, group, 0, 0, lane, "
                "a[group]);\n"
                "for (n8_tile = 0; n8_tile < n8_tiles; n8_tile++)  // unrolled\n"
                "for (group = 0; group < 2; group++) {  // unrolled\n"
                "load_b(B, k_tile * k_tile_columns + 128*half, 64*block_of_pair + 32*group, tile * "
                "tile_columns, n8_tile, K, N, 0, part, lane, b);\n"
                "mma_sp(pair_sums[block_of_pair][4*n8_tile], a[group], b, bits[block_of_pair], group);\n"));
  EXPECT_EQ(sparse24.packed, (PackedForm{.kind = PackedForm::Kind::sparse24, .height = 16}));
  EXPECT_EQ(sparse24.find_array("PackedTileBegins"), nullptr) << "all packed tiles have the same size";
  EXPECT_THAT(print(pipeline_tiles(sparse24, {"k", 3, 2})),
              AllOf(HasSubstr("place_packed_tile("), HasSubstr("copy_sparse24_packed_tile("), Not(HasSubstr("find_"))));
}

TEST(PackBitmap, HasSumsOfItsOwnForEachBlockOfAPair) {
  const std::string text = print(packed);
  EXPECT_THAT(text,
              AllOf(HasSubstr("// pair_sums[2][lane_sums]: registers of a thread\n"),
                    HasSubstr("registers pair_sums = 0;\n"), HasSubstr("sums[e] += pair_sums[block_of_pair][e];\n")));
  EXPECT_LT(text.find("mma(pair_sums"), text.find("sums[e] += pair_sums"));
  EXPECT_LT(text.find("sums[e] += pair_sums"), text.find("store_vector("));
}

TEST(PackBitmap, MultipliesForFourWarpsAtOnce) {
  EXPECT_THAT(
      without_blanks_in_front(print(of_warpgroups)),
      AllOf(HasSubstr("unsigned int packed_tile_row_tile = row_tile < row_tiles ? row_tile : row_tiles - 1;\n"),
            HasSubstr("// a[2][4][4][2]: registers of a thread\n"),
            HasSubstr("warpgroup_arrive();\n"
                      "for (t = 0; t < 4; t++)  // unrolled\n"
                      "wgmma(sums, a[block_of_pair][t], B, k_tile * k_tile_columns + 128*half + 64*block_of_pair + "
                      "16*t, tile * tile_columns, K, N, 0, part, lane);\n"
                      "warpgroup_commit();\n"
                      "warpgroup_wait(0);\n"),
            HasSubstr("}\nwarpgroup_wait_all(sums);\n"), Not(HasSubstr("pair_sums")), Not(HasSubstr("load_b("))));
}

/// What such a kernel is compiled for, by the files of its bundle and by itself.
TEST(PackBitmap, AsksForFeaturesOfItsOwnToMultiplyForFourWarps) {
  EXPECT_TRUE(asks_for_own_features(of_warpgroups));
  EXPECT_FALSE(asks_for_own_features(packed));
}

TEST(PackBitmap, KnowsPanelsAndTurns) {
  EXPECT_THAT(print(packed),
              AllOf(HasSubstr("// row_tiles = ceil(M / 16)\n"), HasSubstr("// iterations = ceil(K / 512)\n")));
  EXPECT_THAT(print(pack_bitmap(fragmented(spmm_nest(ScalarType::f16), 3), {"A"})),
              HasSubstr("// iterations = ceil(K / 768)\n"));
  EXPECT_EQ(packed.packed, (PackedForm{.kind = PackedForm::Kind::bitmap, .height = 16}));
  EXPECT_TRUE(packed.explicit_zeros);
  EXPECT_EQ(packed.find_array("A"), nullptr);
  EXPECT_EQ((*packed.find_array("Values")).extents.back(), 2);
  EXPECT_EQ((*packed.find_array("a")).type, ScalarType::f16);
  EXPECT_EQ((*of_tokens.find_array("a")).type, ScalarType::bf16);
  EXPECT_EQ((*packed.find_array("pair_sums")).type, ScalarType::f32);
}

TEST(PipelineTiles, CopiesTheFirstOperandsInFrontOfTheTurns) {
  const std::string text = print(pipelined);
  EXPECT_THAT(
      text,
      AllOf(
          HasSubstr("// StagedB[tile_stages][iteration_k_tiles][tile_rows][tile_columns]: shared memory of a block\n"),
          HasSubstr("// StagedValues[packed_tile_stages][block_copies][most_words][32][2]: shared memory of a block\n"),
          HasSubstr("for (u = 0; u < early_packed_tiles; u++)"), HasSubstr("for (s = 0; s < early_tiles; s++)")));
  EXPECT_LT(text.find("find_packed_tile("), text.find("make_packed_tile_barriers(copy, lane);"));
  EXPECT_LT(text.find("make_packed_tile_barriers(copy, lane);"), text.find("copy_bitmap_packed_tile("));
  EXPECT_LT(text.find("copy_tile_rows("), text.find("for (iteration = 0"));
}

TEST(PipelineTiles, CopiesTilesByStepsAndUnitsByTurns) {
  EXPECT_THAT(without_blanks_in_front(print(pipelined)),
              HasSubstr("unsigned int step = iteration * k_tile_steps + half;\n"
                        "wait_for_stage(early_tiles - 1);\n"
                        "barrier;  // of the consumer_group\n"
                        "if ((early_tiles + step) / k_tile_steps * k_tiles_of_iteration + first_k_tile < k_tiles) {\n"
                        "copy_tile_rows(B, StagedB, ((early_tiles + step) / k_tile_steps * k_tiles_of_iteration + "
                        "first_k_tile) * k_tile_columns + "
                        "(early_tiles + step) % k_tile_steps * tile_rows, "
                        "(early_tiles + step) % tile_stages, part, tile, consumer_group_thread, K, N);\n"
                        "}\n"
                        "if (half < 1) {\n"
                        "if ((early_packed_tiles + iteration) * k_tiles_of_iteration + first_k_tile < k_tiles && "
                        "row_tile < row_tiles) {\n"
                        "copy_bitmap_packed_tile("));
  EXPECT_THAT(print(pipelined), HasSubstr("wait_for_packed_tile(iteration, packed_tile_stage, copy);\n"));
}

TEST(PipelineTiles, ReadsTheCopies) {
  const std::string text = print(pipelined);
  const std::string iterations = text.substr(text.find("for (iteration = 0"));
  EXPECT_THAT(
      iterations,
      AllOf(
          HasSubstr(
              "find_words(StagedPackedTileWords[packed_tile_stage][copy], packed_tile_stage, copy, lane, word_at);\n"),
          HasSubstr("load_bits(StagedBits[packed_tile_stage][copy], half, packed_tile_stage, copy, lane, bits);\n"),
          HasSubstr("load_a(StagedValues[packed_tile_stage][copy], StagedOddColumns[packed_tile_stage][copy], places, "
                    "-2*block_of_pair + 1, 4*t, lane, a[t]);\n"),
          HasSubstr("load_b(StagedB[tile_stage][part], 0, 64*block_of_pair + 32*group, 0, n8_tile, tile_rows, "
                    "tile_columns, tile_stage, part, lane, b);\n"),
          Not(HasSubstr("load_a(Values")), Not(HasSubstr("load_b(B"))));
}

TEST(PipelineTiles, HasStepsOfWholeWindows) {
  const LoopNest whole = pipeline_tiles(packed, {"k", 2, 2, 256});
  const std::string text = without_blanks_in_front(print(whole));
  EXPECT_THAT(
      text,
      AllOf(HasSubstr("// tile_rows = 256\n"),
            HasSubstr("unsigned int step = iteration;\nwait_for_stage(early_tiles - 1);\n"),
            HasSubstr(
                "find_words(StagedPackedTileWords[packed_tile_stage][copy], packed_tile_stage, copy, lane, word_at);\n"
                "for (half = 0; half < 2; half++) {"),
            HasSubstr("load_b(StagedB[tile_stage][part], 0, 64*block_of_pair + 32*group + 128*half, 0")));
  EXPECT_THROW(pipeline_tiles(packed, {"k", 2, 2, 64}), ScheduleError);
  EXPECT_THROW(pipeline_tiles(of_warpgroups, {"k", 4, 2, 256}), ScheduleError);
}

/// Eight packed tiles keep the memory busy; B is asked for before the others.
TEST(PipelineTiles, AsksForTilesInFrontOfWhatMemoryCannotDeliverYet) {
  const LoopNest few = pipeline_tiles(pack_bitmap(fragmented(spmm_nest(ScalarType::f16), 4), {"A"}), {"k", 3, 2});
  EXPECT_THAT(print(few), Not(HasSubstr("early_copies")));
  const LoopNest many = pipeline_tiles(pack_bitmap(fragmented(spmm_nest(ScalarType::f16), 8), {"A"}), {"k", 3, 2});
  const std::string text = print(many);
  EXPECT_THAT(text, HasSubstr("// early_copies = 8\n"));
  EXPECT_LT(text.find("if (copy < early_copies) {"), text.find("copy_tile_rows("));
  EXPECT_LT(text.find("copy_tile_rows("), text.find("if (s < 1 && early_copies - 1 < copy) {"));
  EXPECT_LT(text.find("if (s < 1 && early_copies - 1 < copy) {"), text.find("commit_copies();"));
}

/// The text from one place to another, without blanks before lines.
std::string part_of(const LoopNest& nest, const std::string& from, const std::string& to) {
  const std::string text = without_blanks_in_front(print(nest));
  const std::size_t at = text.find(from);
  return text.substr(at, text.find(to, at) - at);
}

TEST(PipelineTiles, OfWarpgroupsDecodesTheNextBlockWhileOneIsMultiplied) {
  const std::string step =
      part_of(pipeline_tiles(of_warpgroups, {"k", 4, 2}), "unsigned int step =", "warpgroup_wait_all");
  const char* const in_order[] = {
      "wait_for_tile(step, tile_stage, part);",
      "barrier;",
      "copy_tile_box(",
      "warpgroup_arrive();",
      "wgmma(sums, a[block_of_pair][t], StagedB[tile_stage][part], 16*t, 0, tile_rows, "
      "tile_columns, tile_stage, part, lane);",
      "warpgroup_commit();",
      "find_places(bits[-block_of_pair + 1]",
      "warpgroup_wait(1);",
      "load_a(StagedValues[packed_tile_stage][copy], StagedOddColumns[packed_tile_stage][copy], places, "
      "2*block_of_pair - 1, 4*t, lane, a[-block_of_pair + 1][t]);"};
  std::size_t at = 0;
  for (const char* const one : in_order) {
    at = step.find(one, at);
    ASSERT_NE(at, step.npos) << one << "\n" << step;
  }
}

TEST(PipelineTiles, OfWarpgroupsDecodesTheFirstBlockInFrontOfTheTurns) {
  const std::string front =
      part_of(pipeline_tiles(of_warpgroups, {"k", 4, 2}), "make_stage_barriers(thread);", "for (iteration = 0");
  EXPECT_THAT(front,
              AllOf(HasSubstr("boxed = uses_boxes();\n"), HasSubstr("copy_tile_rows("),
                    HasSubstr("wait_for_packed_tile(0, 0, copy);\n"),
                    HasSubstr("load_bits(StagedBits[0][copy], 0, 0, copy, lane, bits);\n"), HasSubstr("a[0][t]);\n")));
}

TEST(PipelineTiles, OfWarpgroupsHasATileMoreInUse) {
  EXPECT_THAT(print(pipeline_tiles(of_warpgroups, {"k", 4, 2})),
              AllOf(HasSubstr("// early_tiles = tile_stages - 2\n"), HasSubstr("// tile_rows = 64\n")));
}

TEST(ClusterIterations, OfBitmapsHasTheWindowsOfAllBlocksInATurn) {
  const LoopNest split = cluster_iterations(pipelined, {"k", 4});
  const std::string text = print(split);
  EXPECT_THAT(text, AllOf(HasSubstr("// iterations = ceil(K / 2048)\n"),
                          HasSubstr("// k_tiles_of_iteration = iteration_k_tiles * cluster_blocks\n"),
                          HasSubstr("int first_k_tile = rank * iteration_k_tiles + part;\n"),
                          HasSubstr("k_tile = iteration * k_tiles_of_iteration + first_k_tile;\n"),
                          HasSubstr("wait_for_packed_tile(iteration, packed_tile_stage, copy);\n")));
  // Sums take the places of operands: nobody may still read his.
  const std::size_t read = text.find("barrier;  // of the cluster");
  EXPECT_LT(text.find("mma(pair_sums"), read);
  EXPECT_LT(read, text.find("store_to_cluster(cluster_sums"));
}

TEST(ClusterIterations, DealsTheSumsOfBitmapsToAllBlocks) {
  const std::string text =
      print(store_tiles(cluster_iterations(pipeline_tiles(of_warpgroups, {"k", 4, 2}), {"k", 2}), {"C"}));
  EXPECT_THAT(
      text,
      AllOf(
          HasSubstr("// cluster_sums[cluster_blocks][cluster_blocks][left_sums]: shared memory of the blocks of a "
                    "cluster\n"),
          HasSubstr("store_to_cluster(cluster_sums[owner][rank][own_place + 128*t], sums[32*owner + 4*t], 4, owner);"),
          HasSubstr("add_vector(sums[4*t], cluster_sums[rank][owner][own_place + 128*t], 4);"),
          HasSubstr("unsigned int own_tile = tile * cluster_blocks + rank;"),
          HasSubstr("own_tile * own_columns + 8*t")));
  // Tiles of 16 columns are not cut.
  EXPECT_THAT(print(cluster_iterations(pipelined, {"k", 4})), HasSubstr("store_to_cluster(cluster_sums[0][rank - 1]"));
}

TEST(PipelineTiles, MeetsAsATeamWhereThereAreSeveral) {
  EXPECT_EQ(pipelined.consumer_group, "part");
  const LoopNest one = pipeline_tiles(pack_bitmap(fragmented(spmm_nest(ScalarType::f16), 1), {"A"}), {"k", 2, 2});
  EXPECT_EQ(one.consumer_group, "");
  EXPECT_THAT(print(one), Not(HasSubstr("barrier;  // of the consumer_group")));
}

/// A block has 16 barriers, of which one is its own.
TEST(PipelineTiles, MeetsAsWarpsWhereATeamIsOne) {
  const LoopNest nest = lower(spmm_nest(ScalarType::f16), expand(parse_schedule("bitmap:panels=1,warps=16,pdl=off")));
  EXPECT_EQ(nest.consumer_group, "");
  EXPECT_THAT(print(nest), Not(HasSubstr("barrier;  // of the consumer_group")));
}

TEST(PipelineTiles, CopiesColumnsWhereBHasThemInOnePiece) {
  const std::string text = print(pipeline_tiles(of_tokens, {"k", 4, 3}));
  EXPECT_THAT(text, AllOf(HasSubstr("copy_tile_columns(B, StagedB, "), Not(HasSubstr("copy_tile_rows("))));
}

TEST(BitmapPipeline, PlacesAnEpilogueAndTheWaitForTheKernelInFront) {
  const std::string text =
      print(lower(spmm_nest(ScalarType::f16), directives_of(parse_choice("bitmap:columns=16", "user"), true)));
  EXPECT_THAT(text, Not(HasSubstr("sum_")));
  EXPECT_LT(text.find("copy_bitmap_packed_tile("), text.find("wait_for_predecessor();"));
  EXPECT_LT(text.find("wait_for_predecessor();"), text.find("copy_tile_rows("));
}

TEST(BitmapPipeline, TakesLegalSchedules) {
  for (const BitmapSchedule& schedule : tests::drawn_of(legal_bitmap_schedules(64), 40)) {
    EXPECT_NO_THROW(lower(spmm_nest(ScalarType::bf16), expand(Schedule(schedule)))) << print(schedule);
    EXPECT_NO_THROW(lower(linear_nk_nest(ScalarType::f16), expand(Schedule(schedule)))) << print(schedule);
  }
}

TEST(StoreTiles, StoresTilesWhereTheseCanBe) {
  EXPECT_THAT(without_blanks_in_front(print(store_tiles(pipelined, {"C"}))),
              HasSubstr("whole = takes_tiles(C, row_tile * row_tile_height + row_tile_height, "
                        "tile * tile_columns + tile_columns, M, N);\n"
                        "if (0 < whole) {\n"
                        "for (t = 0; t < lane_products; t += 2)  // unrolled\n"
                        "store_tile(C, row_tile * row_tile_height, tile * tile_columns + 8*t, M, N, "
                        "row_set * column_pairs + pair, sums[4*t]);\n"
                        "} else {\n"
                        "for (e = 0; e < row_vectors; e++) {  // unrolled\n"));
}

/// What is told of sums once stays before both.
TEST(StoreTiles, FinishesSumsInFrontOfStores) {
  LoopNest nest = spmm_nest(ScalarType::f16);
  nest.epilogue = Epilogue{{"i", "j"}, "sum", {}, Expression(Name{"sum"}) + Expression(Name{"sum"})};
  const ScheduleChoice choice{parse_schedule("bitmap:columns=16,panels=2,warps=2"), "a test"};
  const std::string text = print(lower(nest, directives_of(choice, true)));
  const std::size_t finish = text.find("sums[2*e + w] = ");
  ASSERT_NE(finish, std::string::npos) << text;
  EXPECT_EQ(text.find("sums[2*e + w] = ", finish + 1), std::string::npos) << text;
  EXPECT_LT(finish, text.find("takes_tiles("));
  EXPECT_LT(text.find("store_tile("), text.find("store_columns("));
}

TEST(StoreTiles, LeavesNarrowBlocksAsTheyAre) {
  const LoopNest narrow = lower(spmm_nest(ScalarType::f16), expand(parse_schedule("bitmap:columns=8,pdl=off")));
  EXPECT_EQ(store_tiles(narrow, {"C"}), narrow);
}

TEST(UnpackBitmap, StoresWhatItFindsInPlaceOfProducts) {
  ASSERT_EQ(pipelined.unpacking.size(), 1U);
  const std::string text = without_blanks_in_front(print(pipelined.unpacking.front()));
  EXPECT_THAT(
      text,
      HasSubstr("for (t = 0; t < 4; t++) {  // unrolled\n"
                "load_a(StagedValues[packed_tile_stage][copy], StagedOddColumns[packed_tile_stage][copy], places, "
                "-2*block_of_pair + 1, 4*t, lane, tile);\n"
                "store_a(A, row_tile * row_tile_height, "));
  EXPECT_THAT(text, Not(AnyOf(HasSubstr("mma("), HasSubstr("grid (tile"), HasSubstr("copy_tile"))));
}

TEST(RepackBitmap, FindsWordsAsUnpackingDoes) {
  ASSERT_EQ(pipelined.repacking.size(), 1U);
  const std::string text = without_blanks_in_front(print(pipelined.repacking.front()));
  EXPECT_THAT(
      text, HasSubstr("find_packed_tile(PackedTileBegins, packed_tile_row_tile * k_tiles + k_tile, own_packed_tile);\n"
                      "wait_for_packed_tile(iteration, packed_tile_stage, copy);\n"));
  EXPECT_THAT(text, HasSubstr("for (t = 0; t < 4; t++)  // unrolled\nstore_words(A, row_tile * row_tile_height, "));
  EXPECT_THAT(text, Not(AnyOf(HasSubstr("load_a("), HasSubstr("store_a("), HasSubstr("copy_tile"))));
}

TEST(RepackBitmap, LeavesOutWarpsWithoutAPanel) {
  EXPECT_THAT(print(pipeline_tiles(of_warpgroups, {"k", 4, 2}).repacking.front()),
              HasSubstr("if (row_tile < row_tiles) {"));
}

/// As the product's are, so that their waits are right: of warpgroups there are four K steps in a K tile.
TEST(UnpackBitmap, CommitsItsCopiesAsOftenAsTheProduct) {
  for (const LoopNest& nest : {pipelined, pipeline_tiles(of_warpgroups, {"k", 4, 2})}) {
    for (const LoopNest& other : {nest.unpacking.front(), nest.repacking.front()}) {
      EXPECT_EQ(other.constants, nest.constants);
      EXPECT_THAT(print(other), HasSubstr("for (c = 0; c < k_tile_steps; c++)"));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Bitmap, RefusedStep,
    testing::Values(
        StepRefusal{"a bitmap of the nest as it is", [] { pack_bitmap(spmm_nest(ScalarType::f16), {"A"}); },
                    "the rows are not mapped to the grid"},
        StepRefusal{"tiles of sums that are not there",
                    [] { store_tiles(canonicalize(spmm_nest(ScalarType::f16)), {"C"}); },
                    "lanes do not have the sums of tiles of 16 rows; give it after"},
        StepRefusal{"tiles of B", [] { store_tiles(pipelined, {"B"}); },
                    "the sums are stored elsewhere; write store(C)"},
        StepRefusal{"tiles of floats", [] { store_tiles(fragmented(spmm_nest()), {"C"}); },
                    "sums of other than 16 bits"},
        StepRefusal{"tiles twice", [] { store_tiles(store_tiles(pipelined, {"C"}), {"C"}); },
                    "tiles are stored already; store once"},
        StepRefusal{"a bitmap of another array", [] { pack_bitmap(of_halves, {"B"}); }, "'B'"},
        StepRefusal{"a bitmap twice", [] { pack_bitmap(packed, {"A"}); }, "the sparse array"},
        StepRefusal{"a bitmap before fragments",
                    [] { pack_bitmap(mainloop(canonicalize(spmm_nest(ScalarType::f16)), {"i", 2, 2}), {"A"}); },
                    "the lanes have no sums of a tensor core; stream the rows and give the lanes their columns first: "
                    "mainloop(i, row_tiles=2, warps=8); fragment(j, 8)"},
        StepRefusal{"a bitmap of floats", [] { pack_bitmap(fragmented(spmm_nest()), {"A"}); },
                    "the words of registers hold two elements of 16 bits; choose --dtype f16 or bf16"},
        StepRefusal{"a bitmap of 32 rows",
                    [] {
                      pack_bitmap(fragment_columns(mainloop(canonicalize(spmm_nest(ScalarType::f16)), {"i", 2, 2, 32}),
                                                   {"j", 16}),
                                  {"A"});
                    },
                    "a warp does not have all columns of C in 16 rows"},
        StepRefusal{"a bitmap of two warps at once", [] { pack_bitmap(of_halves, {"A", 2}); },
                    "the tensor core multiplies for one warp or for four"},
        StepRefusal{"a bitmap of four warps of two row tiles", [] { pack_bitmap(of_halves, {"A", 4}); },
                    "four warps that multiply at once have row tiles beside each other"},
        StepRefusal{"a bitmap of four warps and 16 columns",
                    [] {
                      pack_bitmap(
                          fragment_columns(mainloop(canonicalize(spmm_nest(ScalarType::f16)), {"i", 4, 1}), {"j", 16}),
                          {"A", 4});
                    },
                    "the tile of B has less than a line of 64 bytes a row; write fragment(j, 32)"},
        StepRefusal{"a bitmap of a warp and 128 columns",
                    [] {
                      pack_bitmap(
                          fragment_columns(mainloop(canonicalize(spmm_nest(ScalarType::f16)), {"i", 4, 1}), {"j", 128}),
                          {"A"});
                    },
                    "a warp by itself has no registers for so many sums; write fragment(j, 64), or warps=4"},
        StepRefusal{"two stages of tiles of warpgroups", [] { pipeline_tiles(of_warpgroups, {"k", 2, 2}); },
                    "the nearest legal value is 3"},
        StepRefusal{"tiles of no bitmap", [] { pipeline_tiles(of_halves, {"k", 3, 2}); },
                    "the sparse array is not stored as a bitmap; transform it first: transform(A, bitmap)"},
        StepRefusal{"tiles twice", [] { pipeline_tiles(pipelined, {"k", 3, 2}); },
                    "the tiles are copied already; pipeline once"},
        StepRefusal{"one stage of tiles", [] { pipeline_tiles(packed, {"k", 1, 2}); },
                    "one stage cannot be copied to while it is read"},
        StepRefusal{"one stage of packed tiles", [] { pipeline_tiles(packed, {"k", 2, 1}); },
                    "the nearest legal value is 2"},
        StepRefusal{"nine stages of packed tiles", [] { pipeline_tiles(packed, {"k", 2, 9}); },
                    "the nearest legal value is 8"}));

}  // namespace
}  // namespace esc
