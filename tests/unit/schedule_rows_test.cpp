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
  EXPECT_EQ(print(parse_schedule("rows:task=64")), "rows:columns=32,vector=4,unroll=4,task=64,light=16,warps=4,pdl=on");
  EXPECT_EQ(std::get<RowsSchedule>(parse_schedule("rows:warps=4")), RowsSchedule());
}

TEST(RowsSchedule, ReadsKeysInAnyOrder) {
  EXPECT_EQ(std::get<RowsSchedule>(parse_schedule("rows:pdl=off,warps=2,light=8,task=512,unroll=8,vector=2,columns=8")),
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
            "unroll(i, 1); enumerate(); merge(); cut(k, 64); transform(A, tasks, 4); assign(task, warps=2, groups=8); "
            "tile(j, columns=8, vector=2); accumulate(); shuffle(); vectorize(j); batch(k, 2); prefetch(A); overlap()");
}

TEST(RowsSchedule, SaysWhatAllFamiliesHave) {
  const Schedule schedule = parse_schedule("rows:warps=8");
  EXPECT_EQ(family(schedule), "rows");
  EXPECT_EQ(panel_height(schedule), 1);
  EXPECT_EQ(std::get<RowsSchedule>(schedule).threads(), 256);
}

INSTANTIATE_TEST_SUITE_P(
    Rows, RefusedSchedule,
    testing::Values(
        ScheduleRefusal{"rows:", 64, "family rows has no key ''"},
        ScheduleRefusal{"rows:ufi=2", 64,
                        "family rows has no key 'ufi'; its keys are columns, vector, unroll, task, light, warps, pdl"},
        ScheduleRefusal{"row:task=4", 64,
                        "there is no family 'row'; did you mean rows? the families are: atomic, panel, rows"},
        ScheduleRefusal{"rows:task=8,task=8", 64, "key 'task' is given twice"},
        ScheduleRefusal{"rows:task=many", 64, "'many' is not a number for task"},
        ScheduleRefusal{"rows:pdl=1", 64, "pdl=1 is neither on nor off"},
        ScheduleRefusal{"rows:columns=256", 256, "", "columns=128"},
        ScheduleRefusal{"rows:vector=8", 64, "", "vector=4"}, ScheduleRefusal{"rows:unroll=0", 64, "", "unroll=1"},
        ScheduleRefusal{"rows:unroll=16", 64, "", "unroll=8"}, ScheduleRefusal{"rows:task=100", 64, "", "task=64"},
        ScheduleRefusal{"rows:task=1024", 64, "", "task=512"}, ScheduleRefusal{"rows:light=0", 64, "", "light=1"},
        ScheduleRefusal{"rows:task=8,light=16", 64, "", "light=8"},
        ScheduleRefusal{"rows:warps=32", 64, "", "warps=16"}, ScheduleRefusal{"rows:columns=2", 64, "", "vector=2"},
        ScheduleRefusal{"rows:columns=64,vector=1", 64, "", "columns=32"},
        ScheduleRefusal{"rows:columns=64", 32, "", "columns=32"},
        ScheduleRefusal{"rows:vector=4", 62, "", "vector=2"}));

}  // namespace
}  // namespace esc
