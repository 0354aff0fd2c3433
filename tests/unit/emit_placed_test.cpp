// SPDX-License-Identifier: Apache-2.0
// Placed values in blocks of other heights: how they are cut, what the tensor core multiplies at once, and how many
// rows a lane has registers for.

#include <gmock/gmock.h>

#include <array>

#include "generator/emit/fragment_block.h"
#include "generator/emit/warpgroup_text.h"
#include "generator/schedule/stream_schedule.h"

namespace esc {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(FragmentBlock, HasAPanelForEachUnit) {
  const auto block_of = [](std::int64_t height, std::int64_t row_tiles) {
    return fragment_block(
        {.kind = PackedForm::Kind::fragments, .height = height, .block_row_tiles = row_tiles, .placed_values = true});
  };
  for (const auto& [height, row_tiles, stored_height, stored_row_tiles] : {std::array<std::uint32_t, 4>{16, 4, 16, 4},
                                                                           {32, 2, 32, 2},
                                                                           {48, 2, 16, 6},
                                                                           {80, 1, 16, 5},
                                                                           {96, 1, 32, 3},
                                                                           {160, 1, 32, 5},
                                                                           {176, 1, 16, 11}}) {
    const transformer::FragmentBlock block = block_of(height, row_tiles);
    EXPECT_EQ(block.height, stored_height) << height;
    EXPECT_EQ(block.row_tiles, stored_row_tiles) << height;
    EXPECT_EQ(block.joined * row_tiles, stored_row_tiles) << height;
  }
}

TEST(FragmentBlock, SaysWhetherValuesAreSplit) {
  for (const bool splits : {false, true}) {
    EXPECT_EQ(fragment_block(
                  {.kind = PackedForm::Kind::fragments, .height = 32, .placed_values = true, .splits_values = splits})
                  .splits_values,
              splits);
  }
}

TEST(WarpgroupProduct, TakesAnEvenPartOfTheBlocksRows) {
  for (const auto& [rows, split, rounded] : {std::array<std::int64_t, 3>{16, 16, 16},
                                             {48, 48, 48},
                                             {64, 64, 64},
                                             {80, 40, 80},
                                             {96, 48, 96},
                                             {112, 56, 56},
                                             {128, 64, 64},
                                             {144, 48, 72},
                                             {160, 40, 80},
                                             {176, 88, 88},
                                             {192, 64, 96}}) {
    EXPECT_EQ(product_rows(rows, {.splits = true}), split) << rows;
    EXPECT_EQ(product_rows(rows, {}), rounded) << rows;
  }
}

TEST(WarpgroupProduct, TakesAllRowsWhereOthersLeaveRegisters) {
  for (const auto& [rows, split, rounded] :
       {std::array<std::int64_t, 3>{48, 48, 48}, {96, 96, 96}, {144, 144, 144}, {176, 176, 176}, {192, 96, 192}}) {
    EXPECT_EQ(product_rows(rows, {.splits = true, .has_many_registers = true}), split) << rows;
    EXPECT_EQ(product_rows(rows, {.has_many_registers = true}), rounded) << rows;
  }
}

TEST(WarpgroupProduct, NamesASumForEachTwoRows) {
  const std::string text = warpgroup_product_text(48, false);
  EXPECT_THAT(text, HasSubstr("m64n48k8.f32.tf32.tf32 {%0, %1, "));
  EXPECT_THAT(text, HasSubstr(", %23}, {%24, %25, %26, %27}, %28, adds, 1, 1;"));
  EXPECT_THAT(text, HasSubstr("setp.ne.b32 adds, %29, 0;"));
  EXPECT_THAT(text, HasSubstr("\"+f\"(sums[23])"));
  EXPECT_THAT(text, HasSubstr("\"+f\"(sums[0]), \"+f\"(sums[2]), \"+f\"(sums[1]), \"+f\"(sums[3])"))
      << "both rows of a column first";
  EXPECT_THAT(text, Not(HasSubstr("sums[24]")));
  EXPECT_THAT(warpgroup_product_text(48, true), HasSubstr("m64n48k16.f32.f16.f16 {%0, "));
  EXPECT_THAT(warpgroup_product_text(48, true), HasSubstr("%28, adds, 1, 1, 0;"));
}

TEST(PlacedRows, AreFewerWhereLanesHaveFewerRegisters) {
  const auto most_of = [](int threads) {
    return StreamSchedule::most_placed_rows(StreamSchedule::thread_registers(threads));
  };
  EXPECT_EQ(most_of(128), 192);
  EXPECT_EQ(most_of(384), 192);
  EXPECT_EQ(most_of(512), 160);
}

TEST(PlacedRows, AreMoreWhereOtherThreadsLeaveRegisters) {
  StreamSchedule schedule{
      .columns = 64, .row_tiles = 1, .warps = 8, .share = 4, .ahead = true, .dense = StreamSchedule::Dense::placed};
  EXPECT_EQ(schedule.threads(), 512);
  EXPECT_EQ(StreamSchedule::multiplying_registers(schedule.threads()) + StreamSchedule::placing_registers,
            2 * StreamSchedule::thread_registers(schedule.threads()));
  EXPECT_EQ(schedule.most_block_rows(), 192);
  schedule.ahead = false;
  schedule.warps = 16;
  EXPECT_EQ(schedule.most_block_rows(), 160) << "as many threads, of which all multiply";
  EXPECT_FALSE(StreamSchedule::exchanges_registers(256)) << "each may have all that a thread can use";
  EXPECT_TRUE(StreamSchedule::exchanges_registers(512));
}

}  // namespace
}  // namespace esc
