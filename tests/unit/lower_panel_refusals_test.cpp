// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "generator/lower/map_blocks.h"
#include "tests/unit/panel_nests.h"
#include "tests/unit/refused_step.h"

namespace esc {
namespace {

using namespace panel_nests;

const std::vector<Pattern> one_pattern{{0b11, 2}};

INSTANTIATE_TEST_SUITE_P(
    RowTile, RefusedStep,
    testing::Values(
        StepRefusal{
            "merge too early", [] { merge_patterns(canonical, {}); },
            "merge(): the columns of the row tiles are not enumerated; unroll the row loop and enumerate its patterns "
            "first"},
        StepRefusal{"merge twice", [] { merge_patterns(merged, {}); }, "are not enumerated"},
        StepRefusal{"merge one of three",
                    [] { merge_patterns(enumerate(unroll(canonical, {"i", 2}), one_pattern), {}); },
                    "only 1 of 3 patterns are enumerated; enumerate all patterns: the union leaves none out"},
        StepRefusal{"row tiles unknown", [] { assign_row_tiles(merged, {"x", 1, 1}); },
                    "no row loop 'x' to map to the grid; the loops of the nest are i, j"},
        StepRefusal{"row tiles of columns", [] { assign_row_tiles(merged, {"j", 1, 1}); }, "no row loop 'j'"},
        StepRefusal{"row tiles too early", [] { assign_row_tiles(enumerated, {"i", 1, 1}); },
                    "the patterns under loop 'i' are not merged; unroll the row loop and merge its patterns first"},
        StepRefusal{"row tiles twice", [] { assign_row_tiles(owned, {"i", 1, 1}); }, "no row loop 'i'"},
        StepRefusal{"0 row tiles", [] { assign_row_tiles(merged, {"i", 0, 1}); },
                    "block=0 is outside 1 to 128; the nearest legal value is 1"},
        StepRefusal{"129 row tiles", [] { assign_row_tiles(merged, {"i", 129, 1}); }, "the nearest legal value is 128"},
        StepRefusal{"0 in a warp", [] { assign_row_tiles(merged, {"i", 4, 0}); },
                    "warp=0 is outside 1 to 32; the nearest legal value is 1"},
        StepRefusal{"33 in a warp", [] { assign_row_tiles(merged, {"i", 66, 33}); }, "the nearest legal value is 32"},
        StepRefusal{"5 row tiles by 2", [] { assign_row_tiles(merged, {"i", 5, 2}); },
                    "block=5 is no multiple of warp=2; the nearest legal value is 4"},
        StepRefusal{"1 row tile by 2", [] { assign_row_tiles(merged, {"i", 1, 2}); }, "the nearest legal value is 2"},
        StepRefusal{"17 warps", [] { assign_row_tiles(merged, {"i", 34, 2}); },
                    "a block of 17 warps is more than 16; the nearest legal value is 32"},
        StepRefusal{"tiles too early", [] { tile_columns(merged, {"j", 32, 4}); },
                    "the rows are not mapped to the grid; map the row loop first"},
        StepRefusal{"tiles of a block per pattern", [] { tile_columns(map_blocks(enumerated, {"i"}), {"j", 32, 4}); },
                    "there is no column loop 'j'"},
        StepRefusal{"tiles unknown", [] { tile_columns(owned, {"x", 32, 4}); },
                    "there is no column loop 'x' to map to the grid; the loops of the nest are block, set, place, j"},
        StepRefusal{"tiles twice", [] { tile_columns(tiled, {"j", 32, 4}); }, "there is no column loop 'j'"},
        StepRefusal{"0 columns", [] { tile_columns(owned, {"j", 0, 1}); },
                    "columns=0 is outside 1 to 128; the nearest legal value is 1"},
        StepRefusal{"256 columns", [] { tile_columns(owned, {"j", 256, 4}); }, "the nearest legal value is 128"},
        StepRefusal{"vector 8", [] { tile_columns(owned, {"j", 32, 8}); },
                    "vector=8 is outside 1 to 4; the nearest legal value is 4"},
        StepRefusal{"vector 4 of 6", [] { tile_columns(owned, {"j", 6, 4}); },
                    "vector=4 does not divide columns=6; the nearest legal value is 2"},
        StepRefusal{"vector 3", [] { tile_columns(owned, {"j", 6, 3}); },
                    "vector=3 is no power of two; the nearest legal value is 2"},
        StepRefusal{
            "too many lanes", [] { tile_columns(owned, {"j", 128, 4}); },
            "32 lanes for each of 2 row tiles are more than a warp's 32; the nearest legal value is columns=64"},
        StepRefusal{"split too early", [] { split_columns(owned, {"k", 1, 1}); },
                    "the columns of C are not mapped to the grid; map the column loop first"},
        StepRefusal{"split unmapped", [] { split_columns(merged, {"k", 1, 1}); },
                    "the rows are not mapped to the grid"},
        StepRefusal{"split unknown", [] { split_columns(tiled, {"x", 1, 1}); },
                    "there is no loop over enumerated columns 'x'; split the reduction loop, once"},
        StepRefusal{"split twice", [] { split_columns(dealt, {"k", 1, 1}); }, "no loop over enumerated columns 'k'"},
        StepRefusal{"0 warps", [] { split_columns(tiled, {"k", 0, 1}); },
                    "warps=0 is outside 1 to 8 of 16 warps; the nearest legal value is 1"},
        StepRefusal{"too many warps", [] { split_columns(tiled, {"k", 16, 1}); },
                    "warps=16 is outside 1 to 8 of 16 warps; the nearest legal value is 8"},
        StepRefusal{"too many groups", [] { split_columns(tiled, {"k", 1, 8}); },
                    "groups=8 is outside 1 to 4 of 32 lanes; the nearest legal value is 4"},
        StepRefusal{"accumulate unmapped", [] { accumulate_sums(merged, {}); },
                    "accumulate(): the rows are not mapped to the grid"},
        StepRefusal{
            "accumulate too early", [] { accumulate_sums(tiled, {}); },
            "the columns of A are not dealt to the threads; map the columns of C and split the reduction loop first"},
        StepRefusal{"accumulate twice", [] { accumulate_sums(accumulated, {}); },
                    "the sums are already in registers; accumulate once"},
        StepRefusal{"accumulate what is batched", [] { accumulate_sums(batched, {}); },
                    "the sums are already in registers; accumulate once"},
        StepRefusal{"half a warp", [] { pack_regions(accumulate_sums(split_columns(tiled, {"k", 2, 2}), {}), {"A"}); },
                    "transform(A, regions): 16 of a warp's 32 lanes have work; give it groups=4"},
        StepRefusal{"three rows halved",
                    [] {
                      const LoopNest rows = enumerate(unroll(canonical, {"i", 3}), std::nullopt);
                      const LoopNest owned_rows = assign_row_tiles(merge_patterns(rows, {}), {"i", 4, 2});
                      shuffle_sums(
                          accumulate_sums(split_columns(tile_columns(owned_rows, {"j", 8, 2}), {"k", 1, 4}), {}), {});
                    },
                    "shuffle(): 4 lane groups cannot halve the sums of 3 rows; split over groups that divide the rows"},
        StepRefusal{"shuffle too early", [] { shuffle_sums(dealt, {}); },
                    "the sums are not in registers; accumulate the sums first"},
        StepRefusal{"shuffle twice", [] { shuffle_sums(shuffled, {}); },
                    "the sums of the lane groups are already added up; shuffle once"},
        StepRefusal{"shuffle half a warp",
                    [] { shuffle_sums(accumulate_sums(split_columns(tiled, {"k", 2, 2}), {}), {}); },
                    "shuffle(): 16 of a warp's 32 lanes have work; give it groups=4"},
        StepRefusal{"shuffle vectors", [] { shuffle_sums(vectorize(accumulated, {"j"}), {}); },
                    "already go to C in vectors; shuffle before the columns of C are vectorized"},
        StepRefusal{"share packed", [] { share_sums(pack_regions(shuffled, {"A"}), {}); },
                    "reduce_warps(): the sparse array is already packed"},
        StepRefusal{"share vectors", [] { share_sums(vectorize(shuffled, {"j"}), {}); },
                    "give reduce_warps() before transform() and vectorize()"},
        StepRefusal{"share too early", [] { share_sums(accumulated, {}); },
                    "accumulate the sums and shuffle them first"},
        StepRefusal{"share one warp",
                    [] { share_sums(shuffle_sums(accumulate_sums(split_columns(tiled, {"k", 1, 4}), {}), {}), {}); },
                    "one warp has a row tile to itself; leave reduce_warps() out, or split over several warps"},
        StepRefusal{"share twice", [] { share_sums(shared, {}); },
                    "the sums of the warps are already added up; share once"},
        StepRefusal{"pack dense", [] { pack_regions(shared, {"B"}); }, "'B' is not a sparse array of the nest"},
        StepRefusal{"pack twice", [] { pack_regions(packed, {"A"}); }, "'A' is not a sparse array of the nest"},
        StepRefusal{"pack unmapped", [] { pack_regions(merged, {"A"}); }, "the rows are not mapped to the grid"},
        StepRefusal{"pack too early", [] { pack_regions(dealt, {"A"}); },
                    "the sums are not in registers; split the reduction loop and accumulate its sums first"},
        StepRefusal{"vectorize too early", [] { vectorize(dealt, {"j"}); }, "the sums are not in registers"},
        StepRefusal{"vectorize unknown", [] { vectorize(packed, {"x"}); },
                    "'x' does not run over the columns of a lane; name the loop over columns of C, once it is mapped"},
        StepRefusal{"vectorize rows", [] { vectorize(packed, {"tile_slot"}); },
                    "'tile_slot' does not run over the columns of a lane"},
        StepRefusal{"vectorize twice", [] { vectorize(vectorized, {"j"}); }, "vectorize once"},
        StepRefusal{"batch too early", [] { batch_columns(packed, {"k", 4}); },
                    "rows of B are not loaded in parts; vectorize the columns of C first"},
        StepRefusal{"batch unpacked", [] { batch_columns(vectorize(shared, {"j"}), {"k", 4}); },
                    "stored neither in regions nor in tasks; transform it into regions or tasks first"},
        StepRefusal{"batch unknown", [] { batch_columns(vectorized, {"x", 4}); },
                    "there is no loop over columns 'x' of A"},
        StepRefusal{"batch twice", [] { batch_columns(batched, {"k", 4}); },
                    "columns of A are already taken several at a time; batch once"},
        StepRefusal{"batch by 0", [] { batch_columns(vectorized, {"k", 0}); },
                    "0 is not a multiple of 4 from 4 to 8; the nearest legal value is 4"},
        StepRefusal{"batch by 3", [] { batch_columns(vectorized, {"k", 3}); },
                    "3 is not a multiple of 4 from 4 to 8; the nearest legal value is 4"},
        StepRefusal{"prefetch too early", [] { prefetch(vectorized, {"A"}); },
                    "columns of 'A' are not taken several at a time; batch the columns of A first"},
        StepRefusal{"prefetch dense", [] { prefetch(batched, {"B"}); },
                    "columns of 'B' are not taken several at a time"},
        StepRefusal{"prefetch twice", [] { prefetch(prefetched, {"A"}); }, "prefetch or stage once"},
        StepRefusal{"prefetch staged", [] { prefetch(staged, {"A"}); }, "prefetch or stage once"},
        StepRefusal{"stage unpacked", [] { stage_regions(shared, {"A"}); },
                    "'A' is not stored in regions; transform the sparse array into regions first"},
        StepRefusal{"stage too early", [] { stage_regions(vectorized, {"A"}); }, "batch the columns of A first"},
        StepRefusal{"stage dense", [] { stage_regions(batched, {"B"}); }, "'B' is not stored in regions"},
        StepRefusal{"stage twice", [] { stage_regions(staged, {"A"}); },
                    "'A' is already prefetched or staged; stage once"},
        StepRefusal{"overlap unpacked", [] { overlap(shared, {}); }, "the sparse array is not packed"},
        StepRefusal{"overlap twice", [] { overlap(overlapped, {}); },
                    "the kernel already overlaps with the one before; overlap once"},
        StepRefusal{"unroll enumerated columns", [] { unroll(enumerate(canonical, std::nullopt), {"i", 2}); },
                    "unroll(i, 2): the statements of loop 'i' are already transformed; unroll the row loop before "
                    "anything else"},
        StepRefusal{"unroll merged columns",
                    [] { unroll(merge_patterns(enumerate(canonical, std::nullopt), {}), {"i", 2}); },
                    "are already transformed"}));

/// The places of what overlaps are found once everything else is.
TEST(PanelPipeline, EndsWithOverlap) {
  const std::string legal =
      "unroll(i, 2); enumerate(); merge(); row_tiles(i, block=1, warp=1); tile(j, columns=32, vector=4); split_k(k, "
      "warps=1, lane_groups=4); accumulate(); shuffle(); transform(A, regions); vectorize(j); unroll_k(k, 4); pdl()";
  EXPECT_NO_THROW(lower(spmm_nest(), parse_script(legal)));
  try {
    lower(spmm_nest(), parse_script(legal + "; prefetch(A)"));
    FAIL() << "a step after pdl() is refused";
  } catch (const ScheduleError& refusal) {
    EXPECT_EQ(refusal.place(), "prefetch(A)");
    EXPECT_EQ(refusal.remedy(), "give pdl() last");
  }
}

}  // namespace
}  // namespace esc
