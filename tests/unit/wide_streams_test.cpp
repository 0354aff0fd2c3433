// SPDX-License-Identifier: Apache-2.0
// Layers of 16 bits with many columns, of which half are not zero: which of them are streamed without lists.

#include "generator/schedule/wide_streams.h"

#include <gmock/gmock.h>

#include "generator/schedule/scheduler.h"
#include "tests/support/rule_layers.h"

namespace esc {
namespace {

using test::ampere_and_hopper;
using test::ExpectedSchedule;
using test::hopper;
using test::layer_of;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

TEST(WideStreams, HaveAsManyPanelsInABlockAsAMultiprocessorGets) {
  const ExpectedSchedule table[] = {
      {layer_of(8192, 28672, 0.5, 1, "f16"), "stream:columns=8,panels=4,warps=3,stages=2,pdl=on,copies=bulk"},
      {layer_of(8192, 28672, 0.5, 8, "f16"), "stream:columns=8,panels=4,warps=3,stages=2,pdl=on,copies=bulk"},
      {layer_of(8192, 28672, 0.4, 16, "f16"), "stream:columns=16,panels=4,warps=3,stages=2,pdl=on,copies=units"},
      {layer_of(8192, 28672, 0.5, 32, "f16"), "stream:columns=32,panels=4,warps=2,stages=2,pdl=on,copies=bulk"},
  };
  for (const auto& [shape, schedule] : table) {
    const std::vector<ScheduleChoice> choices = wide_streams(shape, hopper);
    ASSERT_THAT(choices, SizeIs(2)) << "bCol " << shape.bcol;
    EXPECT_EQ(print(choices.front().schedule), schedule) << "bCol " << shape.bcol;
    for (const ScheduleChoice& choice : choices) {
      EXPECT_NO_THROW(check_legal(choice.schedule, shape.bcol));
    }
    EXPECT_THAT(choose_schedule(shape).source, StartsWith("by rule: wide layers larger than a cache"));
  }
}

TEST(WideStreams, AreForWhatWasMeasured) {
  const LayerShape measured = layer_of(8192, 28672, 0.5, 8, "f16");
  EXPECT_THAT(wide_streams(measured, ampere_and_hopper), IsEmpty());
  for (const LayerShape& shape : {layer_of(28672, 8192, 0.5, 8, "f16"), layer_of(4096, 14336, 0.5, 8, "f16"), layer_of(8192, 16384, 0.5, 8, "f16"), layer_of(8192, 28672, 0.3, 8, "f16"), layer_of(8192, 28672, 0.5, 64, "f16"),
                                  layer_of(1024, 262144, 0.5, 8, "f16")}) {
    EXPECT_THAT(wide_streams(shape, hopper), IsEmpty()) << shape.rows << " x " << shape.columns << ", " << shape.nonzeros << ", bCol " << shape.bcol;
  }
  LayerShape other = measured;
  other.dtype = "f32";
  EXPECT_THAT(wide_streams(other, hopper), IsEmpty());
  other = measured;
  other.layout = "nk";
  EXPECT_THAT(wide_streams(other, hopper), IsEmpty());
  other = measured;
  other.longest_row = 28672;
  other.row_variation = 3;
  EXPECT_THAT(wide_streams(other, hopper), IsEmpty());
}

}  // namespace
}  // namespace esc
