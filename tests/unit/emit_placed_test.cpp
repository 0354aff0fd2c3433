// SPDX-License-Identifier: Apache-2.0
// Placed values in blocks of other heights: how they are cut, what the tensor core multiplies at once, and how many rows a lane has registers for.

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
  const auto block_of = [](std::int64_t height, std::int64_t panels) { return fragment_block({.kind = PackedForm::Kind::fragments, .height = height, .block_panels = panels, .placed_values = true}); };
  for (const auto& [height, panels, stored_height, stored_panels] :
       {std::array<std::uint32_t, 4>{16, 4, 16, 4}, {32, 2, 32, 2}, {48, 2, 16, 6}, {80, 1, 16, 5}, {96, 1, 32, 3}, {160, 1, 32, 5}, {176, 1, 16, 11}}) {
    const transformer::FragmentBlock block = block_of(height, panels);
    EXPECT_EQ(block.height, stored_height) << height;
    EXPECT_EQ(block.panels, stored_panels) << height;
    EXPECT_EQ(block.joined * panels, stored_panels) << height;
  }
}

TEST(WarpgroupProduct, TakesAnEvenPartOfTheBlocksRows) {
  for (const auto& [rows, split, rounded] : {std::array<std::int64_t, 3>{16, 16, 16}, {48, 48, 48}, {64, 64, 64}, {80, 40, 80}, {96, 48, 96}, {112, 56, 56}, {128, 64, 64}, {144, 48, 72},
                                             {160, 40, 80}, {176, 88, 88}, {192, 64, 96}}) {
    EXPECT_EQ(product_rows(rows, true), split) << rows;
    EXPECT_EQ(product_rows(rows, false), rounded) << rows;
  }
}

TEST(WarpgroupProduct, NamesASumForEachTwoRows) {
  const std::string text = warpgroup_product_text(48, false);
  EXPECT_THAT(text, HasSubstr("m64n48k8.f32.tf32.tf32 {%0, %1, "));
  EXPECT_THAT(text, HasSubstr(", %23}, {%24, %25, %26, %27}, %28, adds, 1, 1;"));
  EXPECT_THAT(text, HasSubstr("setp.ne.b32 adds, %29, 0;"));
  EXPECT_THAT(text, HasSubstr("\"+f\"(sums[23])"));
  EXPECT_THAT(text, Not(HasSubstr("sums[24]")));
  EXPECT_THAT(warpgroup_product_text(48, true), HasSubstr("m64n48k16.f32.f16.f16 {%0, "));
  EXPECT_THAT(warpgroup_product_text(48, true), HasSubstr("%28, adds, 1, 1, 0;"));
}

TEST(PlacedRows, AreFewerWhereLanesHaveFewerRegisters) {
  EXPECT_EQ(StreamSchedule::most_placed_rows(128), 192);
  EXPECT_EQ(StreamSchedule::most_placed_rows(384), 192);
  EXPECT_EQ(StreamSchedule::most_placed_rows(512), 160);
}

}  // namespace
}  // namespace esc
