// SPDX-License-Identifier: Apache-2.0
// Databases and corrections that name schedules which this version does not have.

#include "generator/schedule/gone_schedules.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "generator/schedule/database_files.h"
#include "generator/support/file.h"
#include "generator/support/temporary_folder.h"
#include "tests/support/refusals.h"
#include "tests/unit/tuner/mixed_database.h"

namespace esc {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// Of one column, and of sparse14, in the keys of today and of before, with blanks or without.
constexpr const char* of_16_bits_alone[] = {
    "stream:tile=64x256x1,warps=8,stages=4,copy=cp_async,pdl=on",
    "stream: stages=2, tile = 32x256x1 , pdl=on",
    "stream:columns=1,panels=4,warps=2",
    " stream : tile=32x256x8, warps=8, stages=2, sparse14 = on, pdl=on",
    "stream:columns=8,panels=2,warps=4,stages=2,pdl=on,share=2,copies=units,cluster=4,quarters=on",
};

TEST(GoneSchedules, AreThoseThatOnlyKernelsOf16BitsHad) {
  for (const char* const text : of_16_bits_alone) {
    EXPECT_TRUE(is_gone(text)) << text;
    EXPECT_THROW(parse_schedule(text), ScheduleError) << text << " can be had";
  }
  for (const char* const text :
       {"stream:tile=64x256x16", "stream:columns=16", "stream:tile=64x256x8,sparse14=off", "panel:tile=8x1,thread=2x1",
        "bitmap:columns=1", "streams:columns=1", "stream", "4-7-1-32", "cublas-f16", ""}) {
    EXPECT_FALSE(is_gone(text)) << text;
  }
}

TEST(GoneSchedules, AreStreamsOfTypesOf16Bits) {
  const std::string text = "stream:tile=64x256x8,warps=8";
  for (const char* const dtype : {"f16", "bf16"}) {
    EXPECT_TRUE(is_gone(text, dtype)) << dtype;
    EXPECT_TRUE(is_gone(parse_schedule(text), dtype)) << dtype;
    EXPECT_FALSE(is_gone("panel:warps=4", dtype)) << dtype;
    EXPECT_FALSE(is_gone(parse_schedule("panel:warps=4"), dtype)) << dtype;
  }
  for (const char* const dtype : {"f32", "tf32", "f64"}) {
    EXPECT_FALSE(is_gone(text, dtype)) << dtype;
    EXPECT_FALSE(is_gone(parse_schedule(text), dtype)) << dtype;
    EXPECT_TRUE(is_gone(of_16_bits_alone[0], dtype)) << dtype;
  }
}

TEST(GoneSchedules, AreSaidWithTheirNumber) {
  EXPECT_EQ(describe(GoneEntries{"mine.txt", 12}),
            "mine.txt: 12 entries name schedules that this version does not have (family stream in 16 bits); they are "
            "left out");
  EXPECT_EQ(describe(GoneEntries{"mine.txt", 1}),
            "mine.txt: 1 entry names a schedule that this version does not have (family stream in 16 bits); it is left "
            "out");
}

/// The dtype is behind the entries, as it may be.
std::string database_of(const std::string& dtype, const std::string& entries) {
  return "device sm90-132sm-60mib NVIDIA H200\nevidence measured\n" + entries + "dtype " + dtype + "\n";
}

constexpr const char* mixed_entries =
    "candidate 32 0 stream:tile=64x256x8,warps=8\n"
    "candidate 32 1 panel:warps=4\n"
    "candidate 32 2 stream:tile=64x256x8,warps=8,sparse14=on\n"
    "candidate 32 3 panel:warps=2\n"
    "candidate 1 0 stream:tile=64x256x1,warps=8\n"
    "class 32 18 18 12 13 2 2.5 - 0.0 12.5 ~3.0 ~40.0\n"
    "class 1 18 18 12 13 2 - - 0.0\n"
    "library 32 18 18 12 13 7.5\n"
    "library 1 18 18 12 13 3.5\n"
    "default 1 stream:tile=64x256x1,warps=8 1 - - - -\n"
    "default 32 panel:warps=4 1 - - - -\n"
    "layer 32 0123456789abcdef stream:tile=32x256x8 1.2 - -\n"
    "layer 32 fedcba9876543210 panel:warps=1 1.3 - -\n";

TEST(GoneSchedules, LeaveADatabaseWithTheOthersAndTheirLosses) {
  for (const char* const dtype : {"f16", "bf16"}) {
    const ReadDatabases read = read_databases(database_of(dtype, mixed_entries), "file.txt");
    EXPECT_EQ(read.gone, 5U);
    ASSERT_THAT(read.databases, SizeIs(1));
    const ScheduleDatabase& left = read.databases.front();
    EXPECT_THAT(left.candidates(), ElementsAre(CandidateEntry{32, 0, schedule("panel:warps=4")},
                                               CandidateEntry{32, 1, schedule("panel:warps=2")}));
    ASSERT_THAT(left.classes(), SizeIs(1)) << "of one column no candidate is left";
    EXPECT_EQ(left.classes()[0].layers.bcol, 32);
    EXPECT_THAT(left.classes()[0].losses, ElementsAre(CandidateLoss{12.5, false}, CandidateLoss{40, true}));
    EXPECT_EQ(left.classes()[0].exact_microseconds, 7.5);
    ASSERT_THAT(left.defaults(), SizeIs(1));
    EXPECT_EQ(left.defaults()[0].bcol, 32);
    ASSERT_THAT(left.layers(), SizeIs(1));
    EXPECT_EQ(left.layers()[0].pattern, "fedcba9876543210");
    EXPECT_EQ(read_databases(print(left), "again.txt").gone, 0U);
    EXPECT_EQ(ScheduleDatabase::parse(print(left), "again.txt"), left);
  }
}

TEST(GoneSchedules, LeaveOutNothingOfAnotherType) {
  const std::string entries = "candidate 8 0 stream:tile=64x256x8,warps=8\nclass 8 18 18 12 13 2 - - 0.0\n";
  const ReadDatabases read = read_databases(database_of("tf32", entries), "file.txt");
  EXPECT_EQ(read.gone, 0U);
  EXPECT_THAT(read.databases.front().candidates(), SizeIs(1));
  EXPECT_THAT(read.databases.front().classes(), SizeIs(1));
}

TEST(GoneSchedules, LeaveADatabaseOfNothingElseEmpty) {
  const std::string text = database_of("f16",
                                       "candidate 8 0 stream:tile=64x256x8,warps=8\nclass 8 18 18 12 13 2 - - 0.0\n"
                                       "candidate nk 8 0 stream:tile=64x256x8,warps=8\n"
                                       "class nk 8 18 18 12 13 2 - - 0.0\n");
  const ReadDatabases read = read_databases(text, "file.txt");
  EXPECT_EQ(read.gone, 2U);
  ASSERT_THAT(read.databases, SizeIs(1)) << "that of kn, which is there in any case";
  EXPECT_EQ(read.databases.front(), ScheduleDatabase(read.databases.front().head(), {}));
  EXPECT_EQ(read.databases.front().head().layout, "kn");
}

TEST(GoneSchedules, CountWhereADatabaseIsNotWhole) {
  const auto refusal = [](const std::string& entries) {
    return test::refusal_of([&] { read_databases(database_of("f16", entries), "file.txt"); });
  };
  const std::string candidates = "candidate 32 0 stream:tile=64x256x1\ncandidate 32 1 panel:warps=4\n";
  EXPECT_EQ(refusal(candidates + "class 32 18 18 12 13 2 - - 0.0 1.0\n"), "accepted");
  EXPECT_THAT(refusal(candidates + "class 32 18 18 12 13 2 - - 0.0\n"), HasSubstr("has 1 losses for the 2 candidates"));
  EXPECT_THAT(refusal(candidates + "candidate 32 0 panel:warps=4\n"), HasSubstr("a second entry for candidate 0"));
  EXPECT_THAT(refusal("candidate 32 0 stream:wheels=4\n"), HasSubstr("file.txt:3: stream:wheels=4"));
}

constexpr const char* mixed_corrections =
    "device sm80-50sm-20mib\n"
    "schedule 0 panel:warps=2\n"
    "schedule 1 stream:tile=64x256x8,warps=8\n"
    "schedule 2 stream:tile=64x256x1,warps=8\n"
    "product f16 kn cold 8 1 512 512 26214 80 200 aa 1:9.5 0:12.5 2:14\n"
    "product bf16 kn cold 1 1 512 512 26214 80 200 aa 2:3.5\n"
    "product f32 kn warm 8 1 512 512 26214 80 200 aa 1:10.5 0:11.5\n";

TEST(GoneSchedules, LeaveCorrectionsWithTheOtherTimes) {
  const DeviceMeasurements read = measurements_in(mixed_corrections, "file.txt");
  EXPECT_EQ(read.gone, 3U);
  ASSERT_THAT(read.products, SizeIs(2)) << "that of bf16 has no time left";
  EXPECT_EQ(read.products[0].shape.dtype, "f16");
  EXPECT_THAT(read.products[0].schedules, ElementsAre(TimedSchedule{schedule("panel:warps=2"), 12.5}));
  EXPECT_EQ(read.products[1].shape.dtype, "f32");
  EXPECT_THAT(read.products[1].schedules, ElementsAre(TimedSchedule{schedule("stream:tile=64x256x8,warps=8"), 10.5},
                                                      TimedSchedule{schedule("panel:warps=2"), 11.5}));
  EXPECT_THAT(test::refusal_of(
                  [] { measurements_in(std::string(mixed_corrections) + "schedule 2 panel:warps=4\n", "file.txt"); }),
              HasSubstr("file.txt:8: is a second schedule 2"));
}

TEST(GoneSchedules, AreToldOfEachFileThatNamesThem) {
  const TemporaryFolder folder;
  const auto path = [&](const std::string& name) { return (folder.path() / name).string(); };
  write_file_whole(path("a_corrections.txt"), mixed_corrections);
  write_file_whole(path("b.txt"), database_of("f16", mixed_entries));
  write_file_whole(path("c.txt"), print(mixed()));
  const UserMeasurements found = read_measurements(folder.path());
  EXPECT_THAT(found.gone, ElementsAre(GoneEntries{path("a_corrections.txt"), 3}, GoneEntries{path("b.txt"), 5}));
  EXPECT_THAT(found.databases, SizeIs(2));
  EXPECT_THAT(read_measurements(path("c.txt")).gone, IsEmpty());
}

}  // namespace
}  // namespace esc
