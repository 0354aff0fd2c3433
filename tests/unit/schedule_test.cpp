// SPDX-License-Identifier: Apache-2.0
#include "generator/schedule/schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "generator/schedule/scheduler.h"
#include "generator/schedule/target.h"
#include "tests/unit/refused_schedule.h"

namespace esc {
namespace {

TEST(Schedule, ReadsTheShortForm) {
  EXPECT_EQ(std::get<AtomicSchedule>(parse_schedule("3-8-2-64")),
            (AtomicSchedule{.ufi = 3, .ufk = 8, .warptile = 2, .threads = 64}));
}

TEST(Schedule, PrintsTheCanonicalForm) {
  EXPECT_EQ(print(parse_schedule("4-7-1-32")), "atomic: thread=4x1, unroll_k=7, threads=32");
  EXPECT_EQ(print(parse_schedule("atomic:threads=64,compaction=off,ufi=2")),
            "atomic: thread=2x1, unroll_k=1, threads=64, compaction=off");
}

TEST(Schedule, RoundTrips) {
  for (AtomicSchedule schedule : legal_atomic_schedules(96)) {
    for (const bool compaction : {true, false}) {
      schedule.compaction = compaction;
      EXPECT_EQ(parse_schedule(print(Schedule(schedule))), Schedule(schedule));
    }
  }
}

TEST(Schedule, ListsTheWholeLegalSpace) {
  EXPECT_EQ(legal_atomic_schedules(1).size(), 8U * 16 * 1 * 1);
  EXPECT_EQ(legal_atomic_schedules(100).size(), 8U * 16 * 3 * 3);
  EXPECT_EQ(legal_atomic_schedules(256).size(), 8U * 16 * 4 * 8);
  for (const AtomicSchedule& schedule : legal_atomic_schedules(100)) {
    EXPECT_NO_THROW(check_legal(schedule, 100));
  }
}

TEST(Schedule, ExpandsToDirectives) {
  EXPECT_EQ(print(expand(parse_schedule("4-7-2-64"))),
            "unroll(i, 4); enumerate(); map(i, grid); map(j, lanes, columns=64, threads=64); coarsen(k, 7); "
            "transform(A, lists); compact()");
  EXPECT_EQ(print(expand(parse_schedule("atomic:ufi=4,compaction=off"))),
            "unroll(i, 4); enumerate(); map(i, grid); map(j, lanes, columns=32, threads=32); coarsen(k, 1); "
            "transform(A, lists)");
}

INSTANTIATE_TEST_SUITE_P(
    Atomic, RefusedSchedule,
    testing::Values(
        ScheduleRefusal{"0-1-1-32", 64, "", "thread=1x1"}, ScheduleRefusal{"9-1-1-32", 64, "", "thread=8x1"},
        ScheduleRefusal{"4-17-1-32", 64, "", "unroll_k=16"}, ScheduleRefusal{"4-1-5-32", 256, "", "thread=4x4"},
        ScheduleRefusal{"4-1-1-48", 64, "threads=48 is not a multiple of 32 from 32 to 256"},
        ScheduleRefusal{"4-1-1-512", 1024, "", "threads=256"},
        ScheduleRefusal{"4-1-1-64", 33, "threads=64 is more than max(32, N=33)", "threads=32"},
        ScheduleRefusal{"4-1-3-32", 64, "32 * thread N = 96 is more than max(32, N=64)", "thread=4x2"},
        ScheduleRefusal{"4-7-1", 64, "is not a schedule"}, ScheduleRefusal{"", 64, "the empty text: is not a schedule"},
        ScheduleRefusal{"4-7-1-x", 64, "'x' is not a number for threads"},
        ScheduleRefusal{"panels:ufi=4", 64, "there is no family 'panels'"},
        ScheduleRefusal{"atomic:ufj=4", 64, "family atomic has no key 'ufj'"},
        ScheduleRefusal{"atomic:ufi=4,ufi=4", 64, "key 'ufi' is given twice"},
        ScheduleRefusal{"atomic:ufi", 64, "'' is not a number for ufi"},
        ScheduleRefusal{"atomic:compaction=maybe", 64, "is neither on nor off"},
        ScheduleRefusal{"4-99999999999-1-32", 64, "'99999999999' is not a number for unroll_k"}));

TEST(Scheduler, TakesThePublishedScheduleOfTheNearestBColBelow) {
  EXPECT_EQ(print(published_schedule(32).schedule), print(parse_schedule("4-7-1-32")));
  EXPECT_EQ(print(published_schedule(64).schedule), print(parse_schedule("3-7-2-32")));
  EXPECT_EQ(print(published_schedule(128).schedule), print(parse_schedule("3-8-2-64")));
  EXPECT_EQ(published_schedule(100).schedule, published_schedule(64).schedule);
  EXPECT_EQ(published_schedule(300).source, "published: the paper's best single schedule on an A100 at bCol 128");
}

TEST(Scheduler, IsLegalForEveryBCol) {
  for (const long long bcol : {1, 2, 3, 7, 8, 12, 31, 32, 33, 64, 100, 255, 300}) {
    for (const std::int64_t size : {1, 64, 512, 100000}) {
      for (const bool contiguous : {true, false}) {
        const LayerShape shape{
            .bcol = bcol, .rows = size, .columns = size, .nonzeros = size * size / 7, .contiguous = contiguous};
        const ScheduleChoice choice = choose_schedule(shape);
        EXPECT_NO_THROW(check_legal(choice.schedule, shape.product())) << print(choice.schedule) << ", bCol " << bcol;
      }
    }
  }
  for (long long bcol = 1; bcol <= 300; ++bcol) {
    EXPECT_NO_THROW(check_legal(uneven_rows_schedule(bcol).schedule, bcol)) << bcol;
    EXPECT_NO_THROW(check_legal(published_schedule(bcol).schedule, bcol)) << bcol;
  }
}

TEST(Target, KnowsGpusAndArchitectures) {
  EXPECT_EQ(architecture_of_gpu("H200"), 90);
  EXPECT_EQ(architecture_of_gpu("a100"), 80);
  EXPECT_EQ(parse_architecture("sm_120"), 120);
  EXPECT_EQ(parse_architecture("90"), 90);
  EXPECT_THROW(architecture_of_gpu("voodoo2"), UserError);
  for (const char* const text : {"sm_9x", "sm_70", "70", "sm_72", "sm_999", "sm_1000", "sm_09", "sm_sm_90", ""}) {
    EXPECT_THROW(parse_architecture(text), UserError) << text;
  }
  for (const int architecture : known_architectures()) {
    EXPECT_EQ(parse_architecture(names_of_architectures({architecture})), architecture);
  }
  EXPECT_EQ(names_of_architectures({80, 90, 100}), "sm_80, sm_90 and sm_100");
}

}  // namespace
}  // namespace esc
