// SPDX-License-Identifier: Apache-2.0
// Layers of 16 bits with one column of B: what streams them.

#include "generator/schedule/one_column_streams.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "generator/schedule/scheduler.h"
#include "tests/support/rule_layers.h"

namespace esc {
namespace {

using test::layer_of;

std::vector<std::string> for_one_column(const LayerShape& shape, const std::vector<std::string>& schedules) {
  std::vector<ScheduleChoice> choices;
  for (const std::string& schedule : schedules) {
    choices.push_back({parse_schedule(schedule), "measured", {"8 columns were slow"}});
  }
  std::vector<std::string> result;
  for (const ScheduleChoice& choice : with_one_column(choices, shape)) {
    result.push_back(print(choice.schedule));
    EXPECT_EQ(choice.notes.empty(), choice.source != "measured") << "notes are of the schedule that was measured";
  }
  return result;
}

TEST(OneColumnStreams, TakeTheColumnByItself) {
  EXPECT_THAT(for_one_column(layer_of(4096, 4096, 0.3, 1, "f16"), {"stream:panels=2,warps=4,stages=2", "panel:columns=1,vector=1,groups=4,panels=8", "stream:columns=1,panels=2,warps=4,stages=2"}),
              testing::ElementsAre("stream:columns=1,panels=2,warps=4,stages=2,pdl=on", testing::StartsWith("panel:"))) << "each schedule once";
}

TEST(OneColumnStreams, LeaveWhatSharesWindows) {
  const std::vector<std::string> sharing{"stream:columns=8,panels=1,warps=8,stages=3,pdl=on,cluster=2", "stream:columns=8,panels=2,warps=4,stages=3,pdl=on,share=2",
                                         "stream:columns=8,panels=2,warps=4,stages=3,pdl=on,dense=listed"};
  EXPECT_EQ(for_one_column(layer_of(4096, 4096, 0.3, 1, "f16"), sharing), sharing);
}

TEST(OneColumnStreams, AreOf16Bits) {
  const std::vector<std::string> streams{"stream:columns=8,panels=2,warps=4,stages=2,pdl=on"};
  EXPECT_EQ(for_one_column(layer_of(4096, 4096, 0.3, 2, "f16"), streams), streams);
  EXPECT_EQ(for_one_column(layer_of(4096, 4096, 0.3, 1, "tf32"), streams), streams);
}

/// A column of B is the same in either layout.
TEST(OneColumnStreams, AreChosenInBothLayouts) {
  for (const char* const layout : {"kn", "nk"}) {
    LayerShape shape = layer_of(8192, 8192, 0.3, 1, "f16");
    shape.layout = layout;
    const ScheduleChoice choice = choose_schedule(shape);
    EXPECT_EQ(print(choice.schedule), "stream:columns=1,panels=4,warps=4,stages=2,pdl=on,copies=bulk,quarters=on") << layout;
    EXPECT_THAT(choice.source, testing::StartsWith("by rule: layers larger than a cache are streamed with quarter steps")) << layout;
  }
  const ScheduleChoice small = choose_schedule(layer_of(4096, 4096, 0.5, 1, "f16"));
  EXPECT_THAT(print(small.schedule), testing::StartsWith("stream:columns=1,"));
  EXPECT_THAT(small.source, testing::EndsWith("; for one column by itself by rule"));
}

}  // namespace
}  // namespace esc
