// SPDX-License-Identifier: Apache-2.0
// The text of schedules: the keys of today, those of the releases before, and the table that both are made from.
#include "generator/schedule/schedule_text.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>

#include "generator/schedule/schedule_keys.h"
#include "generator/schedule/settings.h"

namespace esc {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

struct OldAndNew {
  std::string old;
  std::string now;
};

/// What each old key becomes.
const std::vector<OldAndNew>& pairs() {
  static const std::vector<OldAndNew> all{
      {"stream:columns=16,panels=1,warps=4,stages=2,pdl=on,rows=32,copies=bulk",
       "stream: tile=32x256x16, warps=4, stages=2, copy=tma, pdl=on"},
      {"stream:columns=8,panels=4,warps=2,stages=4,pdl=off",
       "stream: tile=64x256x8, warps=8, stages=4, copy=cp_async, pdl=off"},
      {"stream:columns=8,panels=2,warps=4,stages=2,pdl=on,share=2,copies=units,cluster=4",
       "stream: tile=32x256x8, warp_m=16, warps=8, stages=2, copy=bulk_a, split_k=2, cluster=4, pdl=on"},
      {"stream:columns=64,panels=4,warps=1,stages=3,pdl=on,rows=32,copies=bulk,ahead=on,dense=placed",
       "stream: tile=128x32x64, warp_m=32, warps=4, stages=3, copy=tma, warp_specialized=on, format=decompress, "
       "pdl=on"},
      {"stream:columns=8,dense=listed",
       "stream: tile=64x256x8, warps=8, stages=4, copy=cp_async, format=bitmap, pdl=on"},
      {"stream:columns=8,dense=on", "stream: tile=64x256x8, warps=8, stages=4, copy=cp_async, format=dense, pdl=on"},
      {"panel:ufi=2,columns=32,vector=4,groups=2,warps=8,panels=2,ufk=8,stage=off,pdl=on",
       "panel: tile=4x32, thread=2x4, split_k=8, lane_groups=2, unroll_k=8, stage_a=off, pdl=on"},
      {"rows:columns=32,vector=4,unroll=4,task=128,light=16,warps=4,pdl=on",
       "rows: tile=1x32, thread=1x4, unroll_k=4, task=128, light=16, warps=4, pdl=on"},
      {"gather:warps=14,sets=6,pdl=on", "gather: tile=336x256x32, warps=14, pdl=on"},
      {"bitmap:columns=64,panels=4,warps=2,stages=3,units=2,mma=warpgroup,cluster=2,pdl=on",
       "bitmap: tile=64x256x64, warps=8, stages=3, stages_a=2, mma=wgmma, cluster=2, pdl=on"},
      {"bitmap:columns=8,panels=1,warps=8,stages=3,units=2,mma=warp,pdl=on",
       "bitmap: tile=16x256x8, warps=8, stages=3, stages_a=2, pdl=on"},
      {"bitmap:columns=8,panels=1,warps=8,stages=3,units=2,step=256,pdl=on",
       "bitmap: tile=16x256x8, warps=8, stages=3, stages_a=2, step=256, pdl=on"},
      {"bitmap:columns=8,panels=1,warps=8,stages=3,units=2,format=sparse24,pdl=on",
       "bitmap: tile=16x256x8, warps=8, stages=3, stages_a=2, format=sparse24, pdl=on"},
      {"atomic:ufi=4,ufk=7,warptile=1,threads=32", "atomic: thread=4x1, unroll_k=7, threads=32"},
      {"atomic:ufi=4,ufk=7,warptile=1,threads=32,compaction=off",
       "atomic: thread=4x1, unroll_k=7, threads=32, compaction=off"},
      {"4-7-1-32", "atomic: thread=4x1, unroll_k=7, threads=32"}};
  return all;
}

TEST(ScheduleText, OldKeysAreReadAndTodaysPrinted) {
  for (const auto& [old, now] : pairs()) {
    EXPECT_EQ(print(parse_schedule(old)), now);
    EXPECT_EQ(parse_schedule(now), parse_schedule(old)) << now;
    EXPECT_EQ(parse_schedule(compact(parse_schedule(old))), parse_schedule(old)) << old;
    EXPECT_EQ(compact(parse_schedule(old)).find(' '), std::string::npos);
    EXPECT_EQ(in_todays_keys(old), old == "4-7-1-32" ? old : now) << "a library's name has no colon";
  }
  EXPECT_EQ(in_todays_keys("cublas-tf32"), "cublas-tf32");
}

/// Every key of the table is read, printed by some schedule, and has each of its old keys in some pair.
TEST(ScheduleText, TheTableHasTheKeysThatAreReadAndPrinted) {
  for (const ScheduleFamily& family : schedule_families()) {
    for (const ScheduleKey& key : family.keys) {
      const auto has = [&](const std::string& text, std::string_view name) {
        return text.starts_with(family.name) &&
               (text.find(fmt::format(" {}=", name)) != text.npos ||
                text.find(fmt::format(":{}=", name)) != text.npos || text.find(fmt::format(",{}=", name)) != text.npos);
      };
      EXPECT_TRUE(std::ranges::any_of(pairs(), [&](const OldAndNew& one) { return has(one.now, key.name); }))
          << key.name;
      for (const std::string_view old : split(key.old, ' ')) {
        EXPECT_TRUE(std::ranges::any_of(pairs(), [&](const OldAndNew& one) { return has(one.old, old); })) << old;
      }
    }
  }
}

TEST(ScheduleText, KeysMayBeLeftOutAndStandInAnyOrder) {
  EXPECT_EQ(print(parse_schedule("stream: stages=3")),
            "stream: tile=64x256x8, warps=8, stages=3, copy=cp_async, pdl=on");
  EXPECT_EQ(parse_schedule("panel:pdl=off,tile=8x32,split_k=2"),
            parse_schedule("panel: tile = 8x32 , split_k=2 , pdl=off"));
  EXPECT_EQ(parse_schedule("stream: tile=32x256x16"), parse_schedule("stream: tile=32x256x16, warp_m=32, warps=2"));
}

std::string refusal_of(const std::string& text) {
  try {
    parse_schedule(text);
  } catch (const ScheduleError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(ScheduleText, SaysWhatIsWrongInTodaysKeys) {
  EXPECT_THAT(refusal_of("stream: tile=32x256x16, panels=2"),
              AllOf(HasSubstr("has the old key 'panels' beside 'tile'"), HasSubstr("tile, warp_m, warps, ")));
  EXPECT_THAT(refusal_of("stream: tile=40x256x16"), HasSubstr("tile M=40 is no multiple of warp_m=16"));
  EXPECT_THAT(refusal_of("stream: tile=32x128x16"), HasSubstr("the nearest legal value is tile=32x256x16"));
  EXPECT_THAT(refusal_of("stream: tile=32x16"), HasSubstr("tile=32x16 has 2 numbers"));
  EXPECT_THAT(refusal_of("stream: tile=64x256x8, warps=6"), HasSubstr("warps=6 is no multiple of tile M / warp_m=4"));
  EXPECT_THAT(refusal_of("stream: tile=64x256x8, warp_m=0"), HasSubstr("choose warp_m of 1 at least"));
  EXPECT_THAT(refusal_of("stream: tyle=64x256x8"), HasSubstr("did you mean tile? "));
  EXPECT_THAT(refusal_of("stream: copy=bulk, tile=32x256x8"),
              HasSubstr("copy=bulk is neither cp_async nor bulk_a nor tma"));
  EXPECT_THAT(refusal_of("gather: tile=60x256x32, warps=8"), HasSubstr("tile M=60 is no multiple of 4 * warps=32"));
  EXPECT_THAT(refusal_of("rows: tile=2x32"), HasSubstr("tile M=2"));
  EXPECT_THAT(refusal_of("bitmap: tile=24x256x8"), HasSubstr("tile M=24 is no multiple of m16=16"));
  EXPECT_THAT(refusal_of("stream:columns=12"),
              AllOf(HasSubstr("tile N=12 is not a power of two"), Not(HasSubstr("columns="))));
  EXPECT_THAT(refusal_of("panel:panels=2000000000,ufi=2000000000"), Not(HasSubstr("accepted")));
}

}  // namespace
}  // namespace esc
