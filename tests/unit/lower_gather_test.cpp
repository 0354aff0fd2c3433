// SPDX-License-Identifier: Apache-2.0
// Rows of B that are gathered from a ring of K tiles in shared memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "generator/ir/linear_nk_nest.h"
#include "generator/ir/print.h"
#include "generator/lower/pack_gathered.h"
#include "generator/lower/ring_k_tiles.h"
#include "generator/pipeline.h"
#include "generator/schedule/schedule.h"
#include "tests/support/run_size.h"
#include "tests/unit/refused_step.h"

namespace esc {
namespace {

using testing::HasSubstr;

std::vector<Directive> in_front(int warp = 4, int columns = 32, int vector = 4, int warps = 1, int groups = 1) {
  return {Unroll{"i", 3},
          Enumerate{},
          MergePatterns{},
          AssignRowTiles{"i", 8, warp},
          TileColumns{"j", columns, vector},
          SplitColumns{"k", warps, groups},
          AccumulateSums{}};
}

const LoopNest accumulated = lower(spmm_nest(), in_front());
const LoopNest packed = pack_gathered(accumulated, {"A"});
const LoopNest ringed = ring_k_tiles(packed, {"k", 4});

TEST(PackGathered, GivesEachRowAListForEachWindow) {
  const std::string text = print(packed);
  EXPECT_THAT(text, HasSubstr("// k_tiles = ceil(K / 256)\n"));
  EXPECT_THAT(text, HasSubstr("int steps = ListSteps[block][k_tile][set];\n"));
  EXPECT_THAT(text, HasSubstr("unsigned int k = ListColumns[block][k_tile][set][step][place + 4*u][n];\n"));
  EXPECT_THAT(
      text,
      HasSubstr("if (j + v < N) sums[4*u + v] += ListValues[block][k_tile][set][step][place + 4*u][n] * B[k][j + v];"));
  EXPECT_EQ(packed.packed.kind, PackedForm::Kind::gathered);
  EXPECT_EQ(packed.packed.height, 12);
  EXPECT_EQ(packed.packed.block_row_tiles, 2);
}

TEST(PackGathered, LooksRowsUpThatStandByTheirLengths) {
  EXPECT_THAT(print(packed), HasSubstr("row = row_at(Rows, first_tile_slot + e / vector_width * warp_row_tiles);\n"));
  EXPECT_THAT(print(packed),
              HasSubstr("if (row < M) store_columns(C[row][at], sums[e], vector_width, at < N ? N - at : 0);"));
}

TEST(RingWindows, HasAWarpThatAsksForATurnsOperands) {
  const std::string text = print(ringed);
  EXPECT_THAT(text, HasSubstr("// StagedB[stages][k_tile_columns][tile_columns]: shared memory of a block\n"));
  EXPECT_THAT(text, HasSubstr("role = warp_of_block / block_sets;\n"));
  EXPECT_THAT(text, HasSubstr("set = warp_of_block % block_sets;\n"));
  EXPECT_THAT(text, HasSubstr("wait_for_release(k_tile);\n"));
  EXPECT_THAT(text, HasSubstr("copy_rows(B, StagedB, k_tile, tile, place * group_lanes + lane, K, N);\n"));
  EXPECT_EQ(ringed.constant("block_warps"), 3);
  EXPECT_EQ(ringed.constant("threads_per_block"), 96);
}

TEST(RingWindows, AsksForTheFirstListsInFrontOfTheTurns) {
  const std::string text = print(ringed);
  EXPECT_LT(text.find("copy_lists("), text.find("for (K tile = 0"));
}

TEST(RingWindows, ReleasesWhatIsMultiplied) {
  const std::string text = print(ringed);
  EXPECT_THAT(text, HasSubstr("multiply_gathered(StagedListSteps, StagedListColumns, StagedListValues, StagedB, "
                              "k_tile, set, place, lane, sums);"));
  EXPECT_LT(text.find("multiply_gathered("), text.find("release_iteration(k_tile);"));
}

TEST(GatherPipeline, TakesLegalSchedules) {
  for (const GatherSchedule& schedule : tests::drawn_of(legal_gather_schedules(64), 40)) {
    EXPECT_NO_THROW(lower(spmm_nest(), expand(Schedule(schedule)))) << print(schedule);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Gather, RefusedStep,
    testing::Values(
        StepRefusal{"gather the nest as it is", [] { pack_gathered(spmm_nest(), {"A"}); },
                    "the rows are not mapped to the grid"},
        StepRefusal{"gather another array", [] { pack_gathered(accumulated, {"B"}); }, "'B'"},
        StepRefusal{"gather twice", [] { pack_gathered(packed, {"A"}); }, "the sparse array"},
        StepRefusal{"gather what warps share", [] { pack_gathered(lower(spmm_nest(), in_front(4, 32, 4, 2)), {"A"}); },
                    "several warps or lane groups have parts of a row; give each row to one"},
        StepRefusal{"gather narrow rows", [] { pack_gathered(lower(spmm_nest(), in_front(8, 16, 4)), {"A"}); },
                    "a warp does not read four rows of B at once, 128 bytes of each"},
        StepRefusal{"gather halves", [] { pack_gathered(lower(spmm_nest(ScalarType::f16), in_front()), {"A"}); },
                    "choose --dtype f32 or tf32"},
        StepRefusal{"gather columns", [] { pack_gathered(lower(linear_nk_nest(ScalarType::f32), in_front()), {"A"}); },
                    "choose --layout kn, or a schedule of family panel"},
        StepRefusal{"ring of three", [] { ring_k_tiles(packed, {"k", 3}); }, "the nearest legal value is 4"},
        StepRefusal{"ring twice", [] { ring_k_tiles(ringed, {"k", 4}); },
                    "the K tiles are copied already; pipeline once"}));

}  // namespace
}  // namespace esc
