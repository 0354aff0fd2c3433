// SPDX-License-Identifier: Apache-2.0
// Large layers of few non-zeros: which of them have a row for each warp.

#include "generator/schedule/sparse_panels.h"

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

TEST(SparsePanels, GiveEachWarpRowsOfItsOwn) {
  const ExpectedSchedule table[] = {
      {layer_of(4096, 4096, 0.05, 128), "panel:ufi=1,columns=128,vector=4,groups=1,warps=1,panels=4,ufk=4,stage=off,pdl=on"},
      {layer_of(11008, 4096, 0.05, 128), "panel:ufi=1,columns=128,vector=4,groups=1,warps=1,panels=4,ufk=4,stage=off,pdl=on"},
      {layer_of(11008, 4096, 0.02, 200), "panel:ufi=1,columns=128,vector=4,groups=1,warps=1,panels=4,ufk=4,stage=off,pdl=on"},
      {layer_of(4096, 4096, 0.02, 128), "panel:ufi=1,columns=64,vector=4,groups=2,warps=1,panels=4,ufk=4,stage=off,pdl=on"},
      {layer_of(4096, 11008, 0.05, 128), "panel:ufi=1,columns=64,vector=4,groups=2,warps=1,panels=4,ufk=4,stage=off,pdl=on"},
      {layer_of(11008, 4096, 0.02, 64), "panel:ufi=1,columns=64,vector=4,groups=1,warps=1,panels=8,ufk=8,stage=off,pdl=on"},
      {layer_of(8192, 8192, 0.05, 64), "panel:ufi=1,columns=64,vector=4,groups=2,warps=1,panels=4,ufk=4,stage=off,pdl=on"},
      {layer_of(11008, 4096, 0.02, 32), "panel:ufi=1,columns=32,vector=4,groups=1,warps=1,panels=4,ufk=8,stage=off,pdl=on"},
      {layer_of(4096, 4096, 0.1, 32), "panel:ufi=1,columns=32,vector=4,groups=4,warps=1,panels=4,ufk=4,stage=off,pdl=on"},
  };
  for (const auto& [shape, schedule] : table) {
    const std::vector<ScheduleChoice> choices = sparse_panels(shape, hopper);
    ASSERT_THAT(choices, SizeIs(1)) << shape.rows << " x " << shape.columns << ", bCol " << shape.bcol;
    EXPECT_EQ(print(choices.front().schedule), schedule) << shape.rows << " x " << shape.columns << ", bCol " << shape.bcol;
    EXPECT_NO_THROW(check_legal(choices.front().schedule, shape.bcol));
    EXPECT_THAT(choose_schedule(shape).source, StartsWith("by rule: large layers of few non-zeros"));
  }
}

TEST(SparsePanels, AreForWhatWasMeasured) {
  const LayerShape measured = layer_of(4096, 4096, 0.05, 128);
  EXPECT_THAT(sparse_panels(measured, ampere_and_hopper), IsEmpty());
  for (const LayerShape& shape : {layer_of(4096, 2048, 0.05, 128), layer_of(33288, 512, 0.05, 128), layer_of(4096, 4096, 0.01, 128), layer_of(4096, 4096, 0.1, 128), layer_of(11008, 4096, 0.05, 64), layer_of(2048, 8192, 0.02, 64),
                                  layer_of(8192, 8192, 0.05, 32), layer_of(4096, 4096, 0.05, 16), layer_of(4096, 4096, 0.05, 256)}) {
    EXPECT_THAT(sparse_panels(shape, hopper), IsEmpty()) << shape.rows << " x " << shape.columns << ", " << shape.nonzeros << ", bCol " << shape.bcol;
  }
  LayerShape other = measured;
  other.dtype = "f16";
  EXPECT_THAT(sparse_panels(other, hopper), IsEmpty());
  other = measured;
  other.layout = "nk";
  EXPECT_THAT(sparse_panels(other, hopper), IsEmpty());
  other = measured;
  other.longest_row = 4096;
  other.row_variation = 3;
  EXPECT_THAT(sparse_panels(other, hopper), IsEmpty());
}

}  // namespace
}  // namespace esc
