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
            "panel: tile=2x32, thread=2x4, split_k=8, lane_groups=4, unroll_k=4, stage_a=off, pdl=on");
  EXPECT_EQ(std::get<PanelSchedule>(parse_schedule("panel:warps=8")), PanelSchedule());
}

TEST(PanelSchedule, ReadsKeysInAnyOrder) {
  EXPECT_EQ(std::get<PanelSchedule>(parse_schedule(
                "panel: tile=16x8, thread=4x2, split_k=2, lane_groups=2, unroll_k=8, stage_a=on, pdl=off")),
            (PanelSchedule{.ufi = 4,
                           .columns = 8,
                           .vector = 2,
                           .groups = 2,
                           .warps = 2,
                           .row_tiles = 4,
                           .ufk = 8,
                           .stage = true,
                           .pdl = false}));
}

TEST(PanelSchedule, FollowsItsBlockFromItsKeys) {
  const PanelSchedule schedule{.ufi = 4, .columns = 8, .vector = 2, .groups = 2, .warps = 2, .row_tiles = 8};
  EXPECT_EQ(schedule.group_lanes(), 4);
  EXPECT_EQ(schedule.warp_groups(), 8);
  EXPECT_EQ(schedule.warp_row_tiles(), 4);
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
      EXPECT_EQ(schedule.warp_row_tiles() * schedule.groups * schedule.group_lanes(), 32);
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
            "unroll(i, 2); enumerate(); merge(); row_tiles(i, block=4, warp=4); tile(j, columns=8, vector=2); "
            "split_k(k, warps=2, lane_groups=2); accumulate(); shuffle(); reduce_warps(); transform(A, regions); "
            "vectorize(j); unroll_k(k, 8); prefetch(A); pdl()");
  EXPECT_THAT(print(expand(parse_schedule("panel:stage=on"))), HasSubstr("unroll_k(k, 4); stage(A); pdl()"));
}

TEST(PanelSchedule, SaysWhatBothFamiliesHave) {
  const Schedule schedule = parse_schedule("panel:ufi=4,panels=2,warps=4");
  EXPECT_EQ(family(schedule), "panel");
  EXPECT_EQ(row_tile_height(schedule), 4);
  EXPECT_EQ(std::get<PanelSchedule>(schedule).threads(),
            32 * 4 * std::get<PanelSchedule>(schedule).row_tiles / std::get<PanelSchedule>(schedule).warp_row_tiles());
}

INSTANTIATE_TEST_SUITE_P(
    RowTile, RefusedSchedule,
    testing::Values(
        ScheduleRefusal{"panel:", 64, "family panel has no key ''"},
        ScheduleRefusal{"panel:threads=32", 64, "family panel has no key 'threads'"},
        ScheduleRefusal{"panel:ufi=2,ufi=2", 64, "key 'ufi' is given twice"},
        ScheduleRefusal{"panel: tile=twox32, thread=twox4, split_k=8, lane_groups=4, unroll_k=4, stage_a=off, pdl=on",
                        64, "'two' is not a number for thread"},
        ScheduleRefusal{"panel: tile=2x32, thread=2x4, split_k=8, lane_groups=4, unroll_k=4, stage_a=yes, pdl=on", 64,
                        "stage_a=yes is neither on nor off"},
        ScheduleRefusal{"panel:pdl=1", 64, "pdl=1 is neither on nor off"},
        ScheduleRefusal{"panel: tile=3x32, thread=3x4, split_k=8, lane_groups=4, unroll_k=4, stage_a=off, pdl=on", 64,
                        "thread M=3 is not a power of two from 1 to 8", "thread=2x4"},
        ScheduleRefusal{"panel: tile=0x32, thread=0x4, split_k=8, lane_groups=4, unroll_k=4, stage_a=off, pdl=on", 64,
                        ""},
        ScheduleRefusal{"panel: tile=16x32, thread=16x4, split_k=8, lane_groups=4, unroll_k=4, stage_a=off, pdl=on", 64,
                        "", "thread=8x4"},
        ScheduleRefusal{"panel: tile=2x256, thread=2x4, split_k=8, lane_groups=4, unroll_k=4, stage_a=off, pdl=on", 256,
                        "", "tile=2x128"},
        ScheduleRefusal{"panel: tile=2x32, thread=2x8, split_k=8, lane_groups=8, unroll_k=4, stage_a=off, pdl=on", 64,
                        "", "thread=2x4"},
        ScheduleRefusal{"panel: tile=2x32, thread=2x4, split_k=8, lane_groups=64, unroll_k=4, stage_a=off, pdl=on", 64,
                        "", "lane_groups=32"},
        ScheduleRefusal{"panel: tile=2x32, thread=2x4, split_k=32, lane_groups=4, unroll_k=4, stage_a=off, pdl=on", 64,
                        "", "split_k=16"},
        ScheduleRefusal{"panel: tile=512x32, thread=2x4, split_k=8, lane_groups=4, unroll_k=4, stage_a=off, pdl=on", 64,
                        "", "tile=256x32"},
        ScheduleRefusal{"panel: tile=2x32, thread=2x4, split_k=8, lane_groups=4, unroll_k=2, stage_a=off, pdl=on", 64,
                        "", "unroll_k=4"},
        ScheduleRefusal{"panel: tile=2x32, thread=2x4, split_k=8, lane_groups=4, unroll_k=16, stage_a=off, pdl=on", 64,
                        "", "unroll_k=8"},
        ScheduleRefusal{"panel: tile=2x2, thread=2x4, split_k=8, lane_groups=4, unroll_k=4, stage_a=off, pdl=on", 64,
                        "thread N=4 is more than tile N=2", "thread=2x2"},
        ScheduleRefusal{"panel: tile=2x64, thread=2x1, split_k=8, lane_groups=1, unroll_k=4, stage_a=off, pdl=on", 64,
                        "tile N / thread N = 64 lanes are more than a warp's 32", "tile=2x32"},
        ScheduleRefusal{"panel: tile=2x64, thread=2x4, split_k=8, lane_groups=4, unroll_k=4, stage_a=off, pdl=on", 64,
                        "lane_groups=4 is more than the 2 of a warp", "lane_groups=2"},
        ScheduleRefusal{"panel: tile=2x32, thread=2x4, split_k=8, lane_groups=1, unroll_k=4, stage_a=off, pdl=on", 64,
                        "tile M=2 is less than the 8 rows of a warp", "tile=8x32"},
        ScheduleRefusal{"panel: tile=4x32, thread=2x4, split_k=16, lane_groups=4, unroll_k=4, stage_a=off, pdl=on", 64,
                        "a block of 32 warps is more than 16", "tile=2x32"},
        ScheduleRefusal{"panel: tile=32x128, thread=8x4, split_k=4, lane_groups=1, unroll_k=4, stage_a=on, pdl=on", 128,
                        "the sums of the warps take 65536 bytes of shared memory, more than 49152"},
        ScheduleRefusal{
            "panel: tile=8x32, thread=8x4, split_k=8, lane_groups=4, unroll_k=8, stage_a=off, pdl=on", 64,
            "thread M * unroll_k = 64 values of A at a time are more than 16, what a lane has registers for"},
        ScheduleRefusal{"panel: tile=8x32, thread=8x4, split_k=8, lane_groups=4, unroll_k=8, stage_a=on, pdl=on", 64,
                        "are more than 32, what a lane has registers for", "unroll_k=4"},
        ScheduleRefusal{
            "panel: tile=4x32, thread=4x4, split_k=8, lane_groups=4, unroll_k=8, stage_a=off, pdl=on", 64,
            "thread M * unroll_k = 32 values of A at a time are more than 16, what a lane has registers for"},
        ScheduleRefusal{"panel: tile=2x64, thread=2x4, split_k=8, lane_groups=2, unroll_k=4, stage_a=off, pdl=on", 32,
                        "tile N=64 is more than N=32 asks for", "tile=2x32"},
        ScheduleRefusal{"panel: tile=2x64, thread=2x4, split_k=8, lane_groups=2, unroll_k=4, stage_a=off, pdl=on", 20,
                        "", "tile=2x32"},
        ScheduleRefusal{"panel: tile=2x32, thread=2x4, split_k=8, lane_groups=4, unroll_k=4, stage_a=off, pdl=on", 62,
                        "thread N=4 does not divide N=62", "thread=2x2"},
        ScheduleRefusal{"panel: tile=2x32, thread=2x2, split_k=8, lane_groups=2, unroll_k=4, stage_a=off, pdl=on", 63,
                        "", "thread=2x1"}));

}  // namespace
}  // namespace esc
