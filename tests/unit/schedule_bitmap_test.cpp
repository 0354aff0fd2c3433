// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "generator/schedule/fitted_schedule.h"
#include "generator/schedule/schedule.h"
#include "tests/unit/refused_schedule.h"

namespace esc {
namespace {

TEST(BitmapSchedule, LeavesOutKeysForTheirDefaults) {
  EXPECT_EQ(print(parse_schedule("bitmap:columns=16")),
            "bitmap: tile=32x256x16, warps=16, stages=3, stages_a=2, pdl=on");
  EXPECT_EQ(std::get<BitmapSchedule>(parse_schedule("bitmap:columns=8")), BitmapSchedule());
  EXPECT_EQ(std::get<BitmapSchedule>(parse_schedule("bitmap: tile=80x256x64, warps=15, stages=5, stages_a=4, pdl=off")),
            (BitmapSchedule{.columns = 64, .row_tiles = 5, .warps = 3, .stages = 5, .packed_tiles = 4, .pdl = false}));
}

TEST(BitmapSchedule, NamesWarpgroupsAlone) {
  const BitmapSchedule many{.columns = 256,
                            .row_tiles = 8,
                            .warps = 1,
                            .stages = 4,
                            .packed_tiles = 2,
                            .mma = BitmapSchedule::Mma::warpgroup};
  EXPECT_EQ(print(many), "bitmap: tile=128x256x256, warps=8, stages=4, stages_a=2, mma=wgmma, pdl=on");
  EXPECT_EQ(std::get<BitmapSchedule>(parse_schedule(print(many))), many);
  EXPECT_EQ(std::get<BitmapSchedule>(parse_schedule("bitmap:mma=warp")), BitmapSchedule());
}

TEST(BitmapSchedule, NamesClustersAlone) {
  const BitmapSchedule split{.columns = 16, .cluster = 4};
  EXPECT_EQ(print(split), "bitmap: tile=32x256x16, warps=16, stages=3, stages_a=2, cluster=4, pdl=on");
  EXPECT_EQ(std::get<BitmapSchedule>(parse_schedule(print(split))), split);
}

TEST(BitmapSchedule, NamesTwoOfFourAlone) {
  const BitmapSchedule sparse24{.columns = 16, .cluster = 2, .format = BitmapSchedule::Format::sparse24};
  EXPECT_EQ(print(sparse24),
            "bitmap: tile=32x256x16, warps=16, stages=3, stages_a=2, cluster=2, format=sparse24, pdl=on");
  EXPECT_EQ(std::get<BitmapSchedule>(parse_schedule(print(sparse24))), sparse24);
  EXPECT_EQ(std::get<BitmapSchedule>(parse_schedule("bitmap: format=bitmap")), BitmapSchedule());
  EXPECT_EQ(print(expand(parse_schedule("bitmap: format=sparse24, pdl=off"))),
            "mainloop(i, row_tiles=2, warps=8); fragment(j, 8); transform(A, sparse24_tiles); pipeline(k, stages=3, "
            "stages_a=2); store(C)");
}

TEST(BitmapSchedule, HasAWarpForEachPanelAndPart) {
  EXPECT_EQ((BitmapSchedule{.row_tiles = 3, .warps = 5}.threads()), 480);
}

TEST(BitmapSchedule, NeedsSharedMemoryForItsTilesOrSums) {
  // Two tiles of three stages, 128 rows of 8 columns; six packed tiles of two stages.
  EXPECT_EQ(shared_bytes({.columns = 8, .row_tiles = 3, .warps = 2, .stages = 3, .packed_tiles = 2}, 1024),
            2 * 3 * 128 * 8 * 2 + 6 * 2 * 1024);
  // The sums of seven warps of each of two row tiles take more than two tiles of each warp.
  EXPECT_EQ(shared_bytes({.columns = 64, .row_tiles = 2, .warps = 8, .stages = 2, .packed_tiles = 2}, 1024),
            8 * 2 * 128 * 64 * 2 + 32 * 1024);
  EXPECT_EQ(shared_bytes({.columns = 8, .row_tiles = 16, .warps = 1, .stages = 2, .packed_tiles = 2}, 0),
            2 * 128 * 8 * 2);
  EXPECT_EQ(shared_bytes({.columns = 8, .row_tiles = 8, .warps = 2, .stages = 2, .packed_tiles = 2}, 0), 8192);
  // And those of the other blocks of a cluster.
  EXPECT_EQ(shared_bytes({.columns = 64, .row_tiles = 2, .warps = 1, .stages = 2, .packed_tiles = 2, .cluster = 8}, 0),
            7 * 2 * 16 * 64 * 4);
  // Of warpgroups a K step has 64 rows of B.
  EXPECT_EQ(shared_bytes({.columns = 128,
                          .row_tiles = 4,
                          .warps = 1,
                          .stages = 4,
                          .packed_tiles = 3,
                          .mma = BitmapSchedule::Mma::warpgroup},
                         1024),
            4 * 64 * 128 * 2 + 12 * 1024);
}

TEST(BitmapSchedule, ListsOnlyLegalSchedulesOnce) {
  for (const ProductColumns& given : {ProductColumns{1}, {16}, {100}, {100, false}}) {
    std::set<std::string> texts;
    for (const BitmapSchedule& schedule : legal_bitmap_schedules(given)) {
      EXPECT_NO_THROW(check_legal(schedule, given));
      EXPECT_EQ(parse_schedule(print(Schedule(schedule))), Schedule(schedule));
      EXPECT_TRUE(texts.insert(print(schedule)).second);
    }
    constexpr std::size_t blocks = 50;  // of row tiles and warps
    // Of 32 and of 64 columns 8 blocks, and of 128 the 5 with less than 16 warps.
    const std::size_t warpgroups = given.count < 64 ? 0 : (8 + 8 + 5) * 6 * 7;
    const std::size_t warps = (given.count == 1 ? 1U : given.count == 16 ? 2U : 4U) * blocks * 7 * 7;
    EXPECT_EQ(texts.size(), 2 * warps + warpgroups) << given.count;  // a K step is half a K tile, or a whole one
  }
}

TEST(BitmapSchedule, ExpandsToDirectives) {
  EXPECT_EQ(
      print(expand(parse_schedule("bitmap:columns=16,panels=3,warps=4,stages=5,units=2"))),
      "mainloop(i, row_tiles=3, warps=4); fragment(j, 16); transform(A, bitmap); pipeline(k, stages=5, stages_a=2); "
      "store(C); pdl()");
  EXPECT_EQ(expand(parse_schedule("bitmap:pdl=off")).size(), 5U);
  EXPECT_EQ(print(expand(parse_schedule("bitmap:columns=128,panels=4,warps=1,stages=4,mma=warpgroup"))),
            "mainloop(i, row_tiles=4, warps=1); fragment(j, 128); transform(A, bitmap, warps=4); pipeline(k, stages=4, "
            "stages_a=2); store(C); warp_specialize(B); pdl()");
  EXPECT_EQ(
      print(expand(parse_schedule("bitmap:columns=16,panels=1,cluster=2,pdl=off"))),
      "mainloop(i, row_tiles=1, warps=8); fragment(j, 16); transform(A, bitmap); pipeline(k, stages=3, stages_a=2); "
      "cluster(k, 2); store(C)");
}

TEST(BitmapSchedule, SaysWhatAllFamiliesHave) {
  const Schedule schedule = parse_schedule("bitmap:warps=4,panels=3");
  EXPECT_EQ(family(schedule), "bitmap");
  EXPECT_EQ(row_tile_height(schedule), 16);
}

TEST(BitmapSchedule, IsFor16BitsInAnyLayout) {
  EXPECT_TRUE(can_use_bitmap("f16"));
  EXPECT_TRUE(can_use_bitmap("bf16"));
  EXPECT_FALSE(can_use_bitmap("f32"));
  EXPECT_FALSE(can_use_bitmap("tf32"));
  EXPECT_FALSE(can_use_bitmap("f64"));
  EXPECT_NO_THROW(check_legal(BitmapSchedule(), ProductColumns{64, false}));
}

TEST(BitmapSchedule, IsFittedToFewerColumns) {
  const Schedule wide = BitmapSchedule{.columns = 64, .row_tiles = 3, .warps = 4};
  for (const long long bcol : {1, 8, 9, 30, 64, 200}) {
    const Schedule narrow = fitted(wide, bcol);
    EXPECT_NO_THROW(check_legal(narrow, bcol)) << print(narrow) << ", bCol " << bcol;
    EXPECT_EQ(std::get<BitmapSchedule>(narrow).row_tiles, 3);
  }
  EXPECT_EQ(fitted(wide, 64), wide);
  const Schedule many = parse_schedule("bitmap:columns=256,panels=8,warps=1,mma=warpgroup");
  EXPECT_EQ(fitted(many, 2048), many);
  EXPECT_EQ(print(fitted(many, 70)), "bitmap: tile=128x256x128, warps=8, stages=3, stages_a=2, mma=wgmma, pdl=on");
  EXPECT_EQ(print(fitted(many, 20)), "bitmap: tile=128x256x32, warps=8, stages=3, stages_a=2, mma=wgmma, pdl=on");
}

INSTANTIATE_TEST_SUITE_P(
    Bitmap, RefusedSchedule,
    testing::Values(
        ScheduleRefusal{"bitmap:", 64, "family bitmap has no key ''"},
        ScheduleRefusal{"bitmap:rows=16", 64, "family bitmap has no key 'rows'"},
        ScheduleRefusal{"bitmap: tile=32x256x4, warps=16, stages=3, stages_a=2, pdl=on", 64, "", "tile=32x256x8"},
        ScheduleRefusal{"bitmap: tile=32x256x24, warps=16, stages=3, stages_a=2, pdl=on", 64,
                        "tile N=24 is not a power of two from 8 to 64"},
        ScheduleRefusal{"bitmap: tile=32x256x128, warps=16, stages=3, stages_a=2, pdl=on", 200, "", "tile=32x256x64"},
        ScheduleRefusal{"bitmap: tile=32x256x32, warps=16, stages=3, stages_a=2, pdl=on", 16, "", "tile=32x256x16"},
        ScheduleRefusal{"bitmap: tile=32x256x16, warps=16, stages=3, stages_a=2, pdl=on", 1, "", "tile=32x256x8"},
        ScheduleRefusal{"bitmap: tile=272x256x8, warps=17, stages=3, stages_a=2, pdl=on", 64,
                        "tile M / 16=17 is outside 1 to 16"},
        ScheduleRefusal{"bitmap: tile=48x256x8, warps=18, stages=3, stages_a=2, pdl=on", 64,
                        "warps=18 is not a multiple of 3 from 3 to 15"},
        ScheduleRefusal{"bitmap: tile=0x256x8, warps=0, stages=3, stages_a=2, pdl=on", 64, "", "tile=16x256x8"},
        ScheduleRefusal{"bitmap: tile=32x256x8, warps=16, stages=1, stages_a=2, pdl=on", 64, "", "stages=2"},
        ScheduleRefusal{"bitmap: tile=32x256x8, warps=16, stages=3, stages_a=9, pdl=on", 64,
                        "stages_a=9 is outside 2 to 8"},
        ScheduleRefusal{"bitmap: tile=32x256x8, warps=16, stages=3, stages_a=2, cluster=9, pdl=on", 64,
                        "cluster=9 is outside 1 to 8"},
        ScheduleRefusal{"bitmap:mma=block", 64, "mma=block is neither mma nor wgmma"},
        ScheduleRefusal{"bitmap: tile=64x256x16, warps=4, stages=3, stages_a=2, mma=wgmma, pdl=on", 64,
                        "tile N=16 is not a power of two from 32 to 256"},
        ScheduleRefusal{"bitmap: tile=96x256x64, warps=6, stages=3, stages_a=2, mma=wgmma, pdl=on", 64,
                        "tile M=96 is no multiple of the 64 rows of the warps that multiply at once", "tile=64x256x64"},
        ScheduleRefusal{"bitmap: tile=128x256x128, warps=16, stages=3, stages_a=2, mma=wgmma, pdl=on", 128,
                        "tile N=128 takes more registers than 512 threads can have", "tile=128x256x64"},
        ScheduleRefusal{"bitmap: tile=64x256x64, warps=4, stages=2, stages_a=2, mma=wgmma, pdl=on", 64,
                        "stages=2 is outside 3 to 8"},
        ScheduleRefusal{"bitmap: tile=64x256x64, warps=4, stages=3, stages_a=2, mma=wgmma, format=sparse24, pdl=on", 64,
                        "format=sparse24 is multiplied by each warp by itself"},
        ScheduleRefusal{"bitmap: format=dense", 64, "format=dense is neither bitmap nor sparse24"},
        ScheduleRefusal{"bitmaps:units=2", 64, "there is no family 'bitmaps'; did you mean bitmap?"},
        ScheduleRefusal{"bitmap: tile=32x256x8, warps=16, stages=3, stages_a=2, pdl=maybe", 64,
                        "is neither on nor off"}));

}  // namespace
}  // namespace esc
