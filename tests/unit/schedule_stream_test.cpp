// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "generator/schedule/schedule.h"
#include "tests/unit/refused_schedule.h"

namespace esc {
namespace {

TEST(StreamSchedule, LeavesOutKeysForTheirDefaults) {
  EXPECT_EQ(print(parse_schedule("stream:panels=2")),
            "stream: tile=32x256x8, warp_m=16, warps=4, stages=4, copy=cp_async, pdl=on");
  EXPECT_EQ(std::get<StreamSchedule>(parse_schedule("stream:warps=2")), StreamSchedule());
  EXPECT_EQ(print(parse_schedule("stream:copies=lanes")),
            "stream: tile=64x256x8, warps=8, stages=4, copy=cp_async, pdl=on");
  EXPECT_EQ(print(parse_schedule("stream:copies=bulk,pdl=off")),
            "stream: tile=64x256x8, warps=8, stages=4, copy=tma, pdl=off");
  EXPECT_EQ(print(parse_schedule("stream:cluster=4")),
            "stream: tile=64x256x8, warps=8, stages=4, copy=cp_async, cluster=4, pdl=on");
  EXPECT_EQ(print(parse_schedule("stream:dense=off")),
            "stream: tile=64x256x8, warps=8, stages=4, copy=cp_async, pdl=on");
  EXPECT_EQ(print(parse_schedule("stream:dense=on,rows=32")),
            "stream: tile=128x256x8, warp_m=32, warps=8, stages=4, copy=cp_async, format=dense, pdl=on");
  EXPECT_EQ(print(parse_schedule("stream:dense=listed,cluster=2")),
            "stream: tile=64x256x8, warps=8, stages=4, copy=cp_async, cluster=2, format=bitmap, pdl=on");
  EXPECT_EQ(print(parse_schedule("stream:columns=64,rows=32,dense=placed")),
            "stream: tile=128x32x64, warp_m=32, warps=8, stages=4, copy=cp_async, format=decompress, pdl=on");
  EXPECT_EQ(
      print(parse_schedule("stream:columns=64,panels=1,warps=4,share=4,copies=bulk,ahead=on,dense=placed")),
      "stream: tile=16x32x64, warps=4, stages=4, copy=tma, split_k=4, warp_specialized=on, format=decompress, pdl=on");
  EXPECT_EQ(print(parse_schedule("stream:cluster=1")),
            "stream: tile=64x256x8, warps=8, stages=4, copy=cp_async, pdl=on");
}

TEST(StreamSchedule, ReadsKeysInAnyOrder) {
  EXPECT_EQ(
      std::get<StreamSchedule>(parse_schedule("stream: tile=256x256x64, warps=16, stages=3, copy=cp_async, pdl=off")),
      (StreamSchedule{.columns = 64, .row_tiles = 16, .warps = 1, .stages = 3, .pdl = false}));
  EXPECT_EQ(std::get<StreamSchedule>(parse_schedule("stream:copies=bulk,rows=32")),
            (StreamSchedule{.rows = 32, .copies = StreamSchedule::Copies::tma}));
}

TEST(StreamSchedule, RoundTrips) {
  for (int columns = 8; columns <= StreamSchedule::max_columns; columns *= 2) {
    for (int row_tiles = 1; row_tiles <= StreamSchedule::max_row_tiles; row_tiles += 3) {
      for (int warps = 1; warps <= StreamSchedule::max_row_tiles / row_tiles; ++warps) {
        const int stages = 2 + (row_tiles + warps) % (StreamSchedule::max_stages - 1);
        const auto copies =
            (row_tiles + stages) % 2 == 0 ? StreamSchedule::Copies::tma : StreamSchedule::Copies::cp_async;
        const StreamSchedule schedule{.columns = columns,
                                      .row_tiles = row_tiles,
                                      .warps = warps,
                                      .stages = stages,
                                      .pdl = warps % 2 == 0,
                                      .share = warps % 2 == 0 ? 2 : 1,
                                      .rows = stages % 2 == 0 ? 16 : 32,
                                      .copies = copies,
                                      .cluster = 1 << row_tiles % 4,
                                      .dense = static_cast<StreamSchedule::Dense>((stages + columns / 8) % 3)};
        EXPECT_EQ(parse_schedule(print(Schedule(schedule))), Schedule(schedule)) << print(schedule);
        EXPECT_NO_THROW(check_legal(schedule, 64)) << print(schedule);
        EXPECT_LE(schedule.threads(), 512);
      }
    }
  }
}

TEST(StreamSchedule, OfPlacedValuesRoundTrips) {
  for (const auto& [row_tiles, rows] : {std::pair{2, 32}, std::pair{4, 16}, std::pair{4, 32}, std::pair{8, 16}}) {
    for (const int share : {1, 2, 4}) {
      for (int warps = share; row_tiles * warps <= StreamSchedule::max_row_tiles; warps += share) {
        if (row_tiles * share == 4 || row_tiles * share == 8) {
          const StreamSchedule schedule{.columns = 16 * row_tiles * share,
                                        .row_tiles = row_tiles,
                                        .warps = warps,
                                        .share = share,
                                        .rows = rows,
                                        .dense = StreamSchedule::Dense::placed};
          EXPECT_EQ(parse_schedule(print(Schedule(schedule))), Schedule(schedule)) << print(schedule);
          EXPECT_NO_THROW(check_legal(schedule, 65)) << print(schedule);
        }
      }
    }
  }
}

TEST(StreamSchedule, ExpandsToDirectives) {
  EXPECT_EQ(print(expand(parse_schedule("stream:columns=16,panels=2,warps=3,stages=5"))),
            "mainloop(i, row_tiles=2, warps=3); fragment(j, 16); transform(A, sparse24); pipeline(k, 5); pdl()");
  EXPECT_EQ(print(expand(parse_schedule("stream:pdl=off"))),
            "mainloop(i, row_tiles=4, warps=2); fragment(j, 8); transform(A, sparse24); pipeline(k, 4)");
  EXPECT_EQ(print(expand(parse_schedule("stream:columns=32,copies=units"))),
            "mainloop(i, row_tiles=4, warps=2); fragment(j, 32); transform(A, sparse24); pipeline(k, 4); copy(bulk_a); "
            "pdl()");
  EXPECT_EQ(print(parse_schedule("stream:columns=32,copies=units")),
            "stream: tile=64x256x32, warps=8, stages=4, copy=bulk_a, pdl=on");
  EXPECT_EQ(
      print(expand(parse_schedule("stream:columns=32,copies=bulk"))),
      "mainloop(i, row_tiles=4, warps=2); fragment(j, 32); transform(A, sparse24); pipeline(k, 4); copy(tma); pdl()");
  EXPECT_EQ(print(expand(parse_schedule("stream:warps=4,share=4,rows=32,pdl=off"))),
            "mainloop(i, row_tiles=4, warps=4, warp_m=32, split_k=4); fragment(j, 8); transform(A, sparse24); "
            "pipeline(k, 4)");
  EXPECT_EQ(print(expand(parse_schedule("stream:dense=on"))),
            "mainloop(i, row_tiles=4, warps=2); fragment(j, 8); transform(A, dense); pipeline(k, 4); pdl()");
  EXPECT_EQ(
      print(expand(parse_schedule("stream:dense=listed,copies=bulk"))),
      "mainloop(i, row_tiles=4, warps=2); fragment(j, 8); transform(A, compressed); pipeline(k, 4); copy(tma); pdl()");
  EXPECT_EQ(
      print(expand(parse_schedule(
          "stream:columns=128,panels=2,warps=8,stages=3,share=4,rows=32,copies=bulk,cluster=2,dense=placed"))),
      "mainloop(i, row_tiles=2, warps=8, warp_m=32, split_k=4, tile_k=32); fragment(j, 128, warp_n=16); transform(A, "
      "decompress); pipeline(k, 3); copy(tma); cluster(k, 2); pdl()");
  EXPECT_EQ(
      print(expand(parse_schedule(
          "stream:columns=128,panels=1,warps=8,share=8,rows=176,copies=bulk,cluster=2,ahead=on,dense=placed"))),
      "mainloop(i, row_tiles=1, warps=8, warp_m=176, split_k=8, tile_k=32); fragment(j, 128, warp_n=16); transform(A, "
      "decompress); pipeline(k, 4); copy(tma); cluster(k, 2); warp_specialize(A); pdl()");
  EXPECT_EQ(print(expand(parse_schedule("stream:copies=bulk,cluster=2"))),
            "mainloop(i, row_tiles=4, warps=2); fragment(j, 8); transform(A, sparse24); pipeline(k, 4); copy(tma); "
            "cluster(k, 2); pdl()");
  EXPECT_EQ(print(expand(parse_schedule("stream:rows=32,pdl=off"))),
            "mainloop(i, row_tiles=4, warps=2, warp_m=32); fragment(j, 8); transform(A, sparse24); pipeline(k, 4)");
}

TEST(StreamSchedule, HasRoomForTheSumsOfWarpsAndBlocks) {
  const StreamSchedule schedule{.columns = 16, .row_tiles = 2, .warps = 3, .stages = 2, .cluster = 4};
  EXPECT_EQ(shared_bytes(schedule, 1000, 100), 2 * 3 * (2 * 1000 + 100) + 4 * (2 + 3) * 2 * 16 * 16);
}

/// Sums take the places of operands and of what is placed of these.
TEST(StreamSchedule, HasRoomForWhatIsPlacedOrForTheSums) {
  StreamSchedule schedule{
      .columns = 64, .row_tiles = 4, .warps = 3, .stages = 2, .cluster = 4, .dense = StreamSchedule::Dense::placed};
  constexpr std::int64_t operands = 2 * 3 * (4 * 1000 + 100);
  constexpr std::int64_t placed = 3 * 4 * 32 * 64;
  constexpr std::int64_t sums = 4 * 64 * 64;
  EXPECT_EQ(shared_bytes(schedule, 1000, 100), (2 + 3) * sums);
  schedule.cluster = 2;
  EXPECT_EQ(shared_bytes(schedule, 1000, 100), operands + placed);
  EXPECT_EQ(shared_bytes(schedule, 2000, 100), operands + 2 * 3 * 4 * 1000 + placed);
}

TEST(StreamSchedule, MultipliesForFourWarpsWhateverColumnsAreAskedFor) {
  EXPECT_NO_THROW(check_legal(StreamSchedule{.columns = 64, .dense = StreamSchedule::Dense::placed}, 1));
  EXPECT_NO_THROW(
      check_legal(StreamSchedule{.columns = 128, .row_tiles = 8, .dense = StreamSchedule::Dense::placed}, 65));
}

TEST(StreamSchedule, SaysWhatAllFamiliesHave) {
  const Schedule schedule = parse_schedule("stream:panels=3,warps=4");
  EXPECT_EQ(family(schedule), "stream");
  EXPECT_EQ(row_tile_height(schedule), 16);
  EXPECT_EQ(row_tile_height(parse_schedule("stream:rows=32")), 32);
  EXPECT_EQ(std::get<StreamSchedule>(schedule).threads(), 384);
}

/// In 32 bits, boxes with some columns more in a row; of a filter's taps no more than rows of B share.
TEST(StreamSchedule, HasRoomForWholeKTiles) {
  StreamSchedule schedule{.columns = 16};
  EXPECT_EQ(staged_k_tile_bytes(schedule, "kn"), 4 * 128 * 16);
  schedule.copies = StreamSchedule::Copies::tma;
  EXPECT_EQ(staged_k_tile_bytes(schedule, "kn"), 4 * 128 * (16 + 8));
  EXPECT_EQ(staged_k_tile_bytes(schedule, "nk"), 4 * 128 * 16);
  schedule.columns = 8;
  EXPECT_EQ(staged_k_tile_bytes(schedule, "kn"), 4 * 128 * 8) << "rows that are too short for boxes";
}

TEST(StreamSchedule, IsForElementsOf32Bits) {
  for (const char* const dtype : {"f32", "tf32"}) {
    EXPECT_TRUE(can_stream(dtype)) << dtype;
  }
  for (const char* const dtype : {"f16", "bf16", "f64"}) {
    EXPECT_FALSE(can_stream(dtype)) << dtype;
  }
}

TEST(StreamSchedule, MultipliesEightColumnsWhateverIsAskedFor) {
  EXPECT_NO_THROW(check_legal(StreamSchedule{.columns = 8}, 1));
  EXPECT_NO_THROW(check_legal(StreamSchedule{.columns = 16}, 9));
  EXPECT_NO_THROW(check_legal(StreamSchedule{.columns = 64}, 1000));
}

INSTANTIATE_TEST_SUITE_P(
    Stream, RefusedSchedule,
    testing::Values(
        ScheduleRefusal{"stream:", 64, "family stream has no key ''"},
        ScheduleRefusal{"stream:ufi=2", 64, "family stream has no key 'ufi'"},
        ScheduleRefusal{"streams:warps=2", 64, "there is no family 'streams'"},
        ScheduleRefusal{"stream:stages=3,stages=3", 64, "key 'stages' is given twice"},
        ScheduleRefusal{"stream:copies=engine", 64, "copies=engine is neither lanes nor units nor bulk"},
        ScheduleRefusal{"stream: tile=64x256x1, warps=8, stages=4, copy=cp_async, pdl=on", 64,
                        "tile N=1 is not a power of two from 8 to 64", "tile=64x256x8"},
        ScheduleRefusal{"stream:sparse14=on", 64, "family stream has no key 'sparse14' any more"},
        ScheduleRefusal{"stream:sparse14=off", 64, "family stream has no key 'sparse14' any more"},
        ScheduleRefusal{"stream:quarters=on,copies=bulk", 64, "family stream has no key 'quarters' any more"},
        ScheduleRefusal{"stream:dense=lists", 64, "dense=lists is neither off nor on nor listed nor placed"},
        ScheduleRefusal{"stream: tile=48x32x64, warps=6, stages=4, copy=cp_async, format=decompress, pdl=on", 64,
                        "tile M / warp_m=3 with split_k=1 are 3 warps that multiply the same K tile, and decompressed "
                        "values are multiplied for 4 or 8"},
        ScheduleRefusal{"stream: tile=256x32x128, warps=16, stages=4, copy=cp_async, format=decompress, pdl=on", 128,
                        "tile M / warp_m=16 with split_k=1 are 16 warps that multiply the same K tile, and "
                        "decompressed values are multiplied for 4 or 8"},
        ScheduleRefusal{
            "stream: tile=256x32x128, warp_m=32, warps=16, stages=4, copy=cp_async, format=decompress, pdl=on", 128,
            "tile M=256 is more than the lanes of 16 warps have registers for: the sums of 160 rows"},
        ScheduleRefusal{"stream: tile=176x32x128, warp_m=176, warps=16, stages=4, copy=cp_async, split_k=8, "
                        "format=decompress, pdl=on",
                        128, "tile M=176 is more than the lanes of 16 warps have registers for: the sums of 160 rows"},
        ScheduleRefusal{
            "stream: tile=40x32x64, warp_m=40, warps=4, stages=4, copy=cp_async, split_k=4, format=decompress, pdl=on",
            64, "warp_m=40 is not a multiple of 16 from 16 to 192", "warp_m=48"},
        ScheduleRefusal{"stream: tile=192x256x8, warp_m=48, warps=8, stages=4, copy=cp_async, pdl=on", 64, "",
                        "warp_m=32"},
        ScheduleRefusal{"stream: tile=64x32x32, warps=8, stages=4, copy=cp_async, format=decompress, pdl=on", 64,
                        "4 warps have 16 columns each", "tile=64x32x64"},
        ScheduleRefusal{"stream: tile=64x32x256, warps=8, stages=4, copy=cp_async, format=decompress, pdl=on", 512, "",
                        "tile=64x32x128"},
        ScheduleRefusal{"stream: tile=128x32x128, warps=16, stages=4, copy=cp_async, format=decompress, pdl=on", 64,
                        "tile N=128 is more than N=64 asks for"},
        ScheduleRefusal{"stream: tile=64x256x8, warps=8, stages=4, copy=cp_async, pdl=yes", 64,
                        "pdl=yes is neither on nor off"},
        ScheduleRefusal{"stream: tile=64x256x8, warps=8, stages=4, copy=tma, warp_specialized=on, pdl=on", 64,
                        "warp_specialized=on is for values that warps decompress"},
        ScheduleRefusal{"stream: tile=16x32x64, warps=4, stages=4, copy=cp_async, split_k=4, warp_specialized=on, "
                        "format=decompress, pdl=on",
                        64, "warps that decompress values meet those that multiply them where bulk copies end"},
        ScheduleRefusal{"stream: tile=16x32x64, warps=4, stages=2, copy=tma, split_k=4, warp_specialized=on, "
                        "format=decompress, pdl=on",
                        64, "values that are decompressed an iteration ahead are copied in 3 stages at least",
                        "stages=3"},
        ScheduleRefusal{"stream: tile=16x32x64, warps=12, stages=4, copy=tma, split_k=4, warp_specialized=on, "
                        "format=decompress, pdl=on",
                        64,
                        "12 warps that multiply and as many that decompress leave too few registers for a product of "
                        "the tensor core"},
        ScheduleRefusal{"stream:ahead=yes", 64, "ahead=yes is neither on nor off"},
        ScheduleRefusal{"stream: tile=64x256x8, warps=8, stages=4, copy=cp_async, cluster=9, pdl=on", 64,
                        "cluster=9 is outside 1 to 8", "cluster=8"},
        ScheduleRefusal{"stream: tile=64x256x8, warps=12, stages=4, copy=cp_async, split_k=3, pdl=on", 64,
                        "split_k=3 is not a power of two from 1 to 8"},
        ScheduleRefusal{"stream: tile=16x256x8, warps=6, stages=4, copy=cp_async, split_k=4, pdl=on", 64,
                        "the 6 warps of the same rows cannot be divided into groups of split_k=4", "split_k=2"},
        ScheduleRefusal{"stream: tile=32x256x8, warp_m=8, warps=8, stages=4, copy=cp_async, pdl=on", 64, "",
                        "warp_m=16"},
        ScheduleRefusal{"stream: tile=96x256x8, warp_m=24, warps=8, stages=4, copy=cp_async, pdl=on", 64,
                        "warp_m=24 is not a multiple of 16 from 16 to 32"},
        ScheduleRefusal{"stream: tile=256x256x8, warp_m=64, warps=8, stages=4, copy=cp_async, pdl=on", 64, "",
                        "warp_m=32"},
        ScheduleRefusal{"stream: tile=64x256x4, warps=8, stages=4, copy=cp_async, pdl=on", 64, "", "tile=64x256x8"},
        ScheduleRefusal{"stream: tile=64x256x24, warps=8, stages=4, copy=cp_async, pdl=on", 64, "", "tile=64x256x16"},
        ScheduleRefusal{"stream: tile=64x256x128, warps=8, stages=4, copy=cp_async, pdl=on", 256, "", "tile=64x256x64"},
        ScheduleRefusal{"stream: tile=64x256x16, warps=8, stages=4, copy=cp_async, pdl=on", 8, "", "tile=64x256x8"},
        ScheduleRefusal{"stream: tile=64x256x64, warps=8, stages=4, copy=cp_async, pdl=on", 17, "", "tile=64x256x32"},
        ScheduleRefusal{"stream: tile=0x256x8, warp_m=16, warps=0, stages=4, copy=cp_async, pdl=on", 64, "",
                        "tile=16x256x8"},
        ScheduleRefusal{"stream: tile=272x256x8, warps=17, stages=4, copy=cp_async, pdl=on", 64, "", "tile=256x256x8"},
        ScheduleRefusal{"stream: tile=64x256x8, warps=0, stages=4, copy=cp_async, pdl=on", 64, "", "warps=4"},
        ScheduleRefusal{"stream: tile=96x256x8, warps=18, stages=4, copy=cp_async, pdl=on", 64, "", "warps=12"},
        ScheduleRefusal{"stream: tile=64x256x8, warps=8, stages=1, copy=cp_async, pdl=on", 64, "", "stages=2"},
        ScheduleRefusal{"stream: tile=64x256x8, warps=8, stages=9, copy=cp_async, pdl=on", 64, "", "stages=8"}));

}  // namespace
}  // namespace esc
