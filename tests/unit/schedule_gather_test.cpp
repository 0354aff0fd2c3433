// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "generator/schedule/schedule.h"
#include "tests/unit/refused_schedule.h"

namespace esc {
namespace {

TEST(GatherSchedule, LeavesOutKeysForTheirDefaults) {
  EXPECT_EQ(print(parse_schedule("gather:sets=6")), "gather: tile=192x256x32, warps=8, pdl=on");
  EXPECT_EQ(std::get<GatherSchedule>(parse_schedule("gather:warps=8")), GatherSchedule());
  EXPECT_EQ(std::get<GatherSchedule>(parse_schedule("gather: tile=168x256x32, warps=14, pdl=off")),
            (GatherSchedule{.sets = 3, .warps = 14, .pdl = false}));
}

TEST(GatherSchedule, FollowsItsBlockFromItsKeys) {
  const GatherSchedule schedule{.sets = 6, .warps = 14};
  EXPECT_EQ(schedule.rows(), 24);
  EXPECT_EQ(schedule.block_rows(), 336);
  EXPECT_EQ(schedule.threads(), 480);  // with a warp that asks
}

TEST(GatherSchedule, ListsOnlyLegalSchedulesOnce) {
  std::set<std::string> texts;
  for (const GatherSchedule& schedule : legal_gather_schedules(33)) {
    EXPECT_NO_THROW(check_legal(schedule, ProductColumns{33}));
    EXPECT_EQ(parse_schedule(print(Schedule(schedule))), Schedule(schedule));
    EXPECT_TRUE(texts.insert(print(schedule)).second);
  }
  EXPECT_EQ(texts.size(), 16U * 8);
}

TEST(GatherSchedule, ExpandsToDirectives) {
  EXPECT_EQ(
      print(expand(parse_schedule("gather:warps=3,sets=2"))),
      "unroll(i, 2); enumerate(); merge(); row_tiles(i, block=12, warp=4); tile(j, columns=32, vector=4); split_k(k, "
      "warps=1, lane_groups=1); accumulate(); transform(A, gathered); pipeline(k, 4); pdl()");
  EXPECT_EQ(expand(parse_schedule("gather:pdl=off")).size(), 9U);
}

TEST(GatherSchedule, SaysWhatAllFamiliesHave) {
  const Schedule schedule = parse_schedule("gather:warps=8,sets=3");
  EXPECT_EQ(family(schedule), "gather");
  EXPECT_EQ(row_tile_height(schedule), 3);
}

TEST(GatherSchedule, IsForRowsOfFloat32) {
  EXPECT_TRUE(can_gather("f32", "kn"));
  EXPECT_TRUE(can_gather("tf32", "kn"));
  EXPECT_FALSE(can_gather("f16", "kn"));
  EXPECT_FALSE(can_gather("f32", "nk"));
  EXPECT_THROW(check_legal(GatherSchedule(), ProductColumns{64, false}), ScheduleError);
}

INSTANTIATE_TEST_SUITE_P(
    Gather, RefusedSchedule,
    testing::Values(ScheduleRefusal{"gather:", 64, "family gather has no key ''"},
                    ScheduleRefusal{"gather:columns=64", 64, "family gather has no key 'columns'"},
                    ScheduleRefusal{"gather: tile=272x256x32, warps=17, pdl=on", 64, "warps=17 is outside 1 to 16"},
                    ScheduleRefusal{"gather: tile=288x256x32, warps=8, pdl=on", 64,
                                    "tile M / (4 * warps)=9 is outside 1 to 8"},
                    ScheduleRefusal{"gather: tile=0x256x32, warps=8, pdl=on", 64, "", "tile=32x256x32"}));

}  // namespace
}  // namespace esc
