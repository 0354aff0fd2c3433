// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "generator/schedule/schedule.h"
#include "tests/unit/refused_schedule.h"

namespace esc {
namespace {

using testing::HasSubstr;

TEST(PanelSchedule, LeavesOutKeysForTheirDefaults) {
  EXPECT_EQ(print(parse_schedule("panel:ufi=2")),
            "panel:ufi=2,columns=32,vector=4,groups=4,warps=8,panels=1,ufk=4,stage=off,pdl=on");
  EXPECT_EQ(std::get<PanelSchedule>(parse_schedule("panel:warps=8")), PanelSchedule());
}

TEST(PanelSchedule, ReadsKeysInAnyOrder) {
  EXPECT_EQ(std::get<PanelSchedule>(
                parse_schedule("panel:pdl=off,stage=on,ufk=8,panels=4,warps=2,groups=2,vector=2,columns=8,ufi=4")),
            (PanelSchedule{.ufi = 4,
                           .columns = 8,
                           .vector = 2,
                           .groups = 2,
                           .warps = 2,
                           .panels = 4,
                           .ufk = 8,
                           .stage = true,
                           .pdl = false}));
}

TEST(PanelSchedule, FollowsItsBlockFromItsKeys) {
  const PanelSchedule schedule{.ufi = 4, .columns = 8, .vector = 2, .groups = 2, .warps = 2, .panels = 8};
  EXPECT_EQ(schedule.group_lanes(), 4);
  EXPECT_EQ(schedule.warp_groups(), 8);
  EXPECT_EQ(schedule.warp_panels(), 4);
  EXPECT_EQ(schedule.block_warps(), 4);
  EXPECT_EQ(schedule.threads(), 128);
  EXPECT_EQ(schedule.sum_bytes(), 2 * 8 * 4 * 8 * 4);
  EXPECT_EQ((PanelSchedule{.warps = 1}).sum_bytes(), 0);
}

/// Every third schedule, with pdl off too: bCols that every vector divides, some, and none.
TEST(PanelSchedule, RoundTrips) {
  for (const long long bcol : {1, 6, 33, 128}) {
    const std::vector<PanelSchedule> schedules = legal_panel_schedules(bcol);
    ASSERT_FALSE(schedules.empty());
    for (std::size_t at = 0; at < schedules.size(); at += 3) {
      for (const bool pdl : {true, false}) {
        PanelSchedule schedule = schedules[at];
        schedule.pdl = pdl;
        ASSERT_EQ(parse_schedule(print(Schedule(schedule))), Schedule(schedule)) << print(schedule);
      }
    }
  }
}

TEST(PanelSchedule, ListsOnlyLegalSchedulesOnce) {
  for (const long long bcol : {1, 6, 33}) {
    std::set<std::string> texts;
    for (const PanelSchedule& schedule : legal_panel_schedules(bcol)) {
      EXPECT_NO_THROW(check_legal(schedule, bcol));
      EXPECT_EQ(schedule.warp_panels() * schedule.groups * schedule.group_lanes(), 32);
      EXPECT_TRUE(schedule.pdl);
      EXPECT_TRUE(texts.insert(print(schedule)).second);
    }
  }
}

TEST(PanelSchedule, OffersNoVectorThatDoesNotDivideTheColumns) {
  const auto widest_vector = [](long long bcol) {
    int widest = 0;
    for (const PanelSchedule& schedule : legal_panel_schedules(bcol)) {
      widest = std::max(widest, schedule.vector);
    }
    return widest;
  };
  EXPECT_EQ(widest_vector(5), 1);
  EXPECT_EQ(widest_vector(6), 2);
  EXPECT_EQ(widest_vector(12), 4);
}

TEST(PanelSchedule, HoldsMoreColumnsInALaneWhereTheyAreApart) {
  const Schedule wide = parse_schedule("panel:ufi=8,columns=8,vector=8,groups=32,warps=4,panels=1,ufk=4,stage=on");
  EXPECT_NO_THROW(check_legal(wide, {64, false}));
  EXPECT_NO_THROW(check_legal(wide, {61, false})) << "nothing is moved at once";
  EXPECT_THROW(check_legal(wide, 64), ScheduleError);
  EXPECT_NO_THROW(check_legal(parse_schedule("panel:ufi=4,columns=16,vector=16,groups=32,ufk=4"), {64, false}));
  EXPECT_THROW(check_legal(parse_schedule("panel:ufi=4,columns=16,vector=16,groups=32,ufk=4"), {8, false}),
               ScheduleError);
  EXPECT_THROW(parse_schedule("panel:ufi=8,columns=16,vector=16,groups=32,ufk=4,stage=on"), ScheduleError);
  EXPECT_THROW(parse_schedule("panel:columns=32,vector=32"), ScheduleError);
}

TEST(PanelSchedule, ExpandsToDirectives) {
  EXPECT_EQ(print(expand(parse_schedule("panel:ufi=2,columns=8,vector=2,groups=2,warps=2,panels=4,ufk=8"))),
            "unroll(i, 2); enumerate(); merge(); own(i, panels=4, warp=4); tile(j, columns=8, vector=2); "
            "split(k, warps=2, groups=2); accumulate(); shuffle(); share(); transform(A, regions); vectorize(j); "
            "batch(k, 8); prefetch(A); overlap()");
  EXPECT_THAT(print(expand(parse_schedule("panel:stage=on"))), HasSubstr("batch(k, 4); stage(A); overlap()"));
}

TEST(PanelSchedule, SaysWhatBothFamiliesHave) {
  const Schedule schedule = parse_schedule("panel:ufi=4,panels=2,warps=4");
  EXPECT_EQ(family(schedule), "panel");
  EXPECT_EQ(panel_height(schedule), 4);
  EXPECT_EQ(std::get<PanelSchedule>(schedule).threads(),
            32 * 4 * std::get<PanelSchedule>(schedule).panels / std::get<PanelSchedule>(schedule).warp_panels());
}

INSTANTIATE_TEST_SUITE_P(
    Panel, RefusedSchedule,
    testing::Values(
        ScheduleRefusal{"panel:", 64, "family panel has no key ''"},
        ScheduleRefusal{
            "panel:threads=32", 64,
            "family panel has no key 'threads'; its keys are ufi, columns, vector, groups, warps, panels, ufk, "
            "stage, pdl"},
        ScheduleRefusal{"panel:ufi=2,ufi=2", 64, "key 'ufi' is given twice"},
        ScheduleRefusal{"panel:ufi=two", 64, "'two' is not a number for ufi"},
        ScheduleRefusal{"panel:stage=yes", 64, "stage=yes is neither on nor off; write stage=on or stage=off"},
        ScheduleRefusal{"panel:pdl=1", 64, "pdl=1 is neither on nor off"},
        ScheduleRefusal{"panel:ufi=3", 64, "ufi=3 is not a power of two from 1 to 8", "ufi=2"},
        ScheduleRefusal{"panel:ufi=0", 64, "", "ufi=1"}, ScheduleRefusal{"panel:ufi=16", 64, "", "ufi=8"},
        ScheduleRefusal{"panel:columns=256", 256, "", "columns=128"},
        ScheduleRefusal{"panel:vector=8,groups=8", 64, "", "vector=4"},
        ScheduleRefusal{"panel:groups=64", 64, "", "groups=32"}, ScheduleRefusal{"panel:warps=32", 64, "", "warps=16"},
        ScheduleRefusal{"panel:panels=256", 64, "", "panels=128"}, ScheduleRefusal{"panel:ufk=2", 64, "", "ufk=4"},
        ScheduleRefusal{"panel:ufk=16", 64, "", "ufk=8"},
        ScheduleRefusal{"panel:columns=2,vector=4", 64, "vector=4 is more than columns=2", "vector=2"},
        ScheduleRefusal{"panel:columns=64,vector=1,groups=1", 64,
                        "columns / vector = 64 lanes are more than a warp's 32", "columns=32"},
        ScheduleRefusal{"panel:columns=64,vector=4,groups=4", 64, "groups=4 is more than the 2 lane groups of a warp",
                        "groups=2"},
        ScheduleRefusal{"panel:columns=32,vector=4,groups=1", 64, "panels=1 is less than the 4 panels of a warp",
                        "panels=4"},
        ScheduleRefusal{"panel:warps=16,panels=2", 64, "a block of 32 warps is more than 16", "panels=1"},
        ScheduleRefusal{"panel:ufi=8,columns=128,vector=4,groups=1,warps=4,panels=4,stage=on", 128,
                        "the sums of the warps take 65536 bytes of shared memory, more than 49152; choose fewer warps"},
        ScheduleRefusal{
            "panel:ufi=8,ufk=8", 64,
            "ufi * ufk = 64 values of A at a time are more than 16, what a lane has registers for; the nearest legal "
            "value is ufi=4, or choose stage=on"},
        ScheduleRefusal{"panel:ufi=8,ufk=8,stage=on", 64, "are more than 32, what a lane has registers for", "ufk=4"},
        ScheduleRefusal{"panel:ufi=4,ufk=8", 64, "ufi * ufk = 32 values of A at a time are more than 16"},
        ScheduleRefusal{"panel:columns=64,groups=2", 32, "columns=64 is more than bCol=32 asks for", "columns=32"},
        ScheduleRefusal{"panel:columns=64,groups=2", 20, "", "columns=32"},
        ScheduleRefusal{"panel:vector=4", 62, "vector=4 does not divide bCol=62", "vector=2"},
        ScheduleRefusal{"panel:vector=2,groups=2", 63, "", "vector=1"}));

}  // namespace
}  // namespace esc
