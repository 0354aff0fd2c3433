// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "generator/schedule/schedule.h"
#include "tests/unit/refused_schedule.h"

namespace esc {
namespace {

using testing::HasSubstr;

TEST(RowsSchedule, LeavesOutKeysForTheirDefaults) {
  EXPECT_EQ(print(parse_schedule("rows:task=64")),
            "rows: tile=1x32, thread=1x4, unroll_k=4, task=64, light=16, warps=4, pdl=on");
  EXPECT_EQ(std::get<RowsSchedule>(parse_schedule("rows:warps=4")), RowsSchedule());
}

TEST(RowsSchedule, ReadsKeysInAnyOrder) {
  EXPECT_EQ(std::get<RowsSchedule>(
                parse_schedule("rows: tile=1x8, thread=1x2, unroll_k=8, task=512, light=8, warps=2, pdl=off")),
            (RowsSchedule{.columns = 8, .vector = 2, .unroll = 8, .task = 512, .light = 8, .warps = 2, .pdl = false}));
}

TEST(RowsSchedule, FollowsItsBlockFromItsKeys) {
  const RowsSchedule schedule{.columns = 8, .vector = 2, .warps = 2};
  EXPECT_EQ(schedule.group_lanes(), 4);
  EXPECT_EQ(schedule.warp_groups(), 8);
  EXPECT_EQ(schedule.block_groups(), 16);
  EXPECT_EQ(schedule.threads(), 64);
}

/// Every third schedule, with pdl off too: bCols that every vector divides, some, and none.
TEST(RowsSchedule, RoundTrips) {
  for (const long long bcol : {1, 6, 33, 128}) {
    const std::vector<RowsSchedule> schedules = legal_rows_schedules(bcol);
    ASSERT_FALSE(schedules.empty());
    for (std::size_t at = 0; at < schedules.size(); at += 3) {
      for (const bool pdl : {true, false}) {
        RowsSchedule schedule = schedules[at];
        schedule.pdl = pdl;
        ASSERT_EQ(parse_schedule(print(Schedule(schedule))), Schedule(schedule)) << print(schedule);
      }
    }
  }
}

TEST(RowsSchedule, ListsOnlyLegalSchedulesOnce) {
  for (const long long bcol : {1, 6, 33}) {
    std::set<std::string> texts;
    for (const RowsSchedule& schedule : legal_rows_schedules(bcol)) {
      EXPECT_NO_THROW(check_legal(schedule, bcol));
      EXPECT_EQ(schedule.warp_groups() * schedule.group_lanes(), 32);
      EXPECT_TRUE(schedule.pdl);
      EXPECT_TRUE(texts.insert(print(schedule)).second);
    }
  }
  // For bCol 1 a tile of one column: 4 unrollings, 55 pairs of task and light, 5 numbers of warps.
  EXPECT_EQ(legal_rows_schedules(1).size(), 4U * 55 * 5);
}

TEST(RowsSchedule, ExpandsToDirectives) {
  EXPECT_EQ(print(expand(parse_schedule("rows:columns=8,vector=2,unroll=2,task=64,light=4,warps=2"))),
            "unroll(i, 1); enumerate(); merge(); split_rows(k, 64); transform(A, tasks, 4); assign(task, warps=2, "
            "lane_groups=8); tile(j, columns=8, vector=2); accumulate(); shuffle(); vectorize(j); unroll_k(k, 2); "
            "prefetch(A); pdl()");
}

TEST(RowsSchedule, SaysWhatAllFamiliesHave) {
  const Schedule schedule = parse_schedule("rows:warps=8");
  EXPECT_EQ(family(schedule), "rows");
  EXPECT_EQ(row_tile_height(schedule), 1);
  EXPECT_EQ(std::get<RowsSchedule>(schedule).threads(), 256);
}

INSTANTIATE_TEST_SUITE_P(
    Rows, RefusedSchedule,
    testing::Values(ScheduleRefusal{"rows:", 64, "family rows has no key ''"},
                    ScheduleRefusal{"rows:ufi=2", 64, "family rows has no key 'ufi'"},
                    ScheduleRefusal{"row:task=4", 64, "there is no family 'row'"},
                    ScheduleRefusal{"rows: tile=1x32, thread=1x4, unroll_k=4, task=8, light=16, warps=4, pdl=on", 64,
                                    "light=16 is more than task=8"},
                    ScheduleRefusal{"rows: tile=1x32, thread=1x4, unroll_k=4, task=many, light=16, warps=4, pdl=on", 64,
                                    "'many' is not a number for task"},
                    ScheduleRefusal{"rows:pdl=1", 64, "pdl=1 is neither on nor off"},
                    ScheduleRefusal{"rows: tile=1x256, thread=1x4, unroll_k=4, task=128, light=16, warps=4, pdl=on",
                                    256, "", "tile=1x128"},
                    ScheduleRefusal{"rows: tile=1x32, thread=1x8, unroll_k=4, task=128, light=16, warps=4, pdl=on", 64,
                                    "", "thread=1x4"},
                    ScheduleRefusal{"rows: tile=1x32, thread=1x4, unroll_k=0, task=128, light=16, warps=4, pdl=on", 64,
                                    "", "unroll_k=1"},
                    ScheduleRefusal{"rows: tile=1x32, thread=1x4, unroll_k=16, task=128, light=16, warps=4, pdl=on", 64,
                                    "", "unroll_k=8"},
                    ScheduleRefusal{"rows: tile=1x32, thread=1x4, unroll_k=4, task=100, light=16, warps=4, pdl=on", 64,
                                    "", "task=64"},
                    ScheduleRefusal{"rows: tile=1x32, thread=1x4, unroll_k=4, task=1024, light=16, warps=4, pdl=on", 64,
                                    "", "task=512"},
                    ScheduleRefusal{"rows: tile=1x32, thread=1x4, unroll_k=4, task=128, light=0, warps=4, pdl=on", 64,
                                    "", "light=1"},
                    ScheduleRefusal{"rows: tile=1x32, thread=1x4, unroll_k=4, task=8, light=16, warps=4, pdl=on", 64,
                                    "light=16 is more than task=8", "light=8"},
                    ScheduleRefusal{"rows: tile=1x32, thread=1x4, unroll_k=4, task=128, light=16, warps=32, pdl=on", 64,
                                    "", "warps=16"},
                    ScheduleRefusal{"rows: tile=1x2, thread=1x4, unroll_k=4, task=128, light=16, warps=4, pdl=on", 64,
                                    "", "thread=1x2"},
                    ScheduleRefusal{"rows: tile=1x64, thread=1x1, unroll_k=4, task=128, light=16, warps=4, pdl=on", 64,
                                    "", "tile=1x32"},
                    ScheduleRefusal{"rows: tile=1x64, thread=1x4, unroll_k=4, task=128, light=16, warps=4, pdl=on", 32,
                                    "", "tile=1x32"},
                    ScheduleRefusal{"rows: tile=1x32, thread=1x4, unroll_k=4, task=128, light=16, warps=4, pdl=on", 62,
                                    "", "thread=1x2"}));

}  // namespace
}  // namespace esc
