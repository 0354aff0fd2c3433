// SPDX-License-Identifier: Apache-2.0
// Journals with records of schedules that this version does not have.

#include "tuner/records/gone_records.h"

#include <gmock/gmock.h>

#include "generator/support/error.h"
#include "tests/unit/tuner/tuning_records.h"
#include "tuner/records/record_text.h"

namespace esc::tuning {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr const char* of_one_column = "stream:tile=64x256x1,warps=8";
constexpr const char* of_8_columns = "stream: tile=64x256x8, warps=8, stages=4, copy=cp_async, pdl=on";
constexpr const char* panel = "panel: tile=4x32, thread=2x4, split_k=8, lane_groups=2, unroll_k=8, stage_a=off, pdl=on";

WorkItem item_of_type(const std::string& dtype) {
  WorkItem item = item_of_pattern("a", 8);
  item.dtype = dtype;
  return item;
}

DecisionRecord decision(const WorkItem& item, const std::string& winner, const std::string& incumbent) {
  return {.environment = {}, .item = item, .winner = winner, .incumbent = incumbent, .fastest_peer = {}};
}

TEST(GoneRecords, AreReadAsTheyWereWritten) {
  const WorkItem item = item_of_type("f16");
  for (const Record& record : {Record(steady(item, of_one_column, 5)), Record(steady(item, of_8_columns, 5)),
                               Record(decision(item, of_one_column, of_8_columns)),
                               Record(decision(item, panel, "stream:tile=64x256x8,sparse14=on"))}) {
    EXPECT_EQ(parse_record(print(record), "here"), record);
  }
}

TEST(GoneRecords, AreNoExcuseForOthersThatAreWrong) {
  const Record wrong = steady(item_of_type("f16"), "stream:wheels=4", 5);
  EXPECT_THAT([&] { parse_record(print(wrong), "file:7"); }, ThrowsMessage<UserError>(HasSubstr("wheels")));
}

TEST(GoneRecords, AreLeftOutWithTheDecisionsThatTheyHaveWon) {
  const WorkItem half = item_of_type("bf16");
  const WorkItem single = item_of_type("f32");
  const Record kept[] = {
      steady(half, panel, 5),           steady(half, "cublas-bf16", 5),  decision(half, panel, of_8_columns),
      decision(half, "", of_8_columns), steady(single, of_8_columns, 5), decision(single, of_8_columns, panel)};
  const Record left_out[] = {steady(half, of_8_columns, 5), unmeasured(half, of_one_column, Outcome::wrong_result),
                             decision(half, of_8_columns, panel)};
  const std::vector<Record> all{kept[0], left_out[0], kept[1], kept[2], left_out[1],
                                kept[3], left_out[2], kept[4], kept[5]};
  EXPECT_EQ(count_gone(all), 3U);
  EXPECT_THAT(without_gone(all), ElementsAre(kept[0], kept[1], kept[2], kept[3], kept[4], kept[5]));
  EXPECT_EQ(count_gone(without_gone(all)), 0U);
}

}  // namespace
}  // namespace esc::tuning
