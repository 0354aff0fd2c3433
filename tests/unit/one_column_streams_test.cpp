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

using test::expect_choices;
using test::expect_even_panels;
using test::hopper;
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
  EXPECT_THAT(for_one_column(layer_of(4096, 4096, 0.3, 1, "f16"),
                             {"stream:panels=2,warps=4,stages=2", "panel:columns=1,vector=1,groups=4,panels=8",
                              "stream:columns=1,panels=2,warps=4,stages=2"}),
              testing::ElementsAre("stream: tile=32x256x1, warp_m=16, warps=8, stages=2, copy=cp_async, pdl=on",
                                   testing::StartsWith("panel:")))
      << "each schedule once";
}

TEST(OneColumnStreams, HaveAsManyPanelsInABlockAsAMultiprocessorGets) {
  const LayerShape layers[] = {
      layer_of(2048, 2048, 0.3, 1, "f16"),
      layer_of(4096, 4096, 0.5, 1, "bf16"),
      layer_of(2560, 10240, 0.2, 1, "f16"),
      layer_of(5120, 5120, 0.3, 1, "f16"),
      layer_of(8192, 2048, 0.5, 1, "f16"),
      layer_of(8192, 2048, 0.2, 1, "f16"),
      // Four windows are two turns for two warps.
      layer_of(8192, 1024, 0.3, 1, "f16"),
  };
  expect_choices(one_column_streams, layers, 2, "by rule: layers that a cache holds are streamed for one column",
                 expect_even_panels);
}

TEST(OneColumnStreams, AreForWhatWasMeasured) {
  const LayerShape layers[] = {layer_of(2048, 2048, 0.2, 1, "f16"),  layer_of(1024, 8192, 0.3, 1, "f16"),
                               layer_of(4096, 4096, 0.15, 1, "f16"), layer_of(4096, 4096, 0.3, 2, "f16"),
                               layer_of(4096, 4096, 0.3, 1, "f32"),  layer_of(8192, 8192, 0.3, 1, "f16"),
                               layer_of(28672, 1024, 0.3, 1, "f16")};
  for (const LayerShape& shape : layers) {
    EXPECT_THAT(one_column_streams(shape, hopper), testing::IsEmpty())
        << shape.rows << " x " << shape.columns << ", " << shape.nonzeros << ", bCol " << shape.bcol;
  }
  EXPECT_THAT(one_column_streams(layer_of(4096, 4096, 0.3, 1, "f16"), test::ampere_and_hopper), testing::IsEmpty());
}

TEST(OneColumnStreams, LeaveWhatSharesWindowsAndHighPanelsInQuarters) {
  const std::vector<std::string> sharing{
      "stream: tile=16x256x8, warps=8, stages=3, copy=cp_async, cluster=2, pdl=on",
      "stream: tile=32x256x8, warp_m=16, warps=8, stages=3, copy=cp_async, split_k=2, pdl=on",
      "stream: tile=32x256x8, warp_m=16, warps=8, stages=3, copy=cp_async, format=bitmap, pdl=on",
      "stream: tile=96x256x8, warp_m=32, warps=12, stages=2, copy=tma, sparse14=on, pdl=on"};
  EXPECT_EQ(for_one_column(layer_of(4096, 4096, 0.3, 1, "f16"), sharing), sharing);
}

TEST(OneColumnStreams, AreOf16Bits) {
  const std::vector<std::string> streams{"stream: tile=32x256x8, warp_m=16, warps=8, stages=2, copy=cp_async, pdl=on"};
  EXPECT_EQ(for_one_column(layer_of(4096, 4096, 0.3, 2, "f16"), streams), streams);
  EXPECT_EQ(for_one_column(layer_of(4096, 4096, 0.3, 1, "tf32"), streams), streams);
}

/// A column of B is the same in either layout.
TEST(OneColumnStreams, AreChosenInBothLayouts) {
  for (const char* const layout : {"kn", "nk"}) {
    LayerShape shape = layer_of(8192, 8192, 0.2, 1, "f16");
    shape.layout = layout;
    const ScheduleChoice choice = choose_schedule(shape);
    EXPECT_EQ(std::get<StreamSchedule>(choice.schedule).columns, 1) << layout;
    EXPECT_TRUE(std::get<StreamSchedule>(choice.schedule).quarters) << layout;
    EXPECT_THAT(choice.source,
                testing::StartsWith("by rule: layers larger than a cache are streamed with quarter steps"))
        << layout;
  }
  LayerShape small = layer_of(4096, 4096, 0.2, 1, "f16");
  small.layout = "nk";
  EXPECT_THAT(choose_schedule(small).source,
              testing::StartsWith("by rule: layers that a cache holds are streamed for one column"));
}

}  // namespace
}  // namespace esc
