// SPDX-License-Identifier: Apache-2.0
// Large layers of few non-zeros: which of them have a row for each warp.

#include "generator/schedule/sparse_panels.h"

#include <gmock/gmock.h>

#include "generator/schedule/scheduler.h"

namespace esc {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr KernelTarget hopper{.oldest_architecture = 90, .newest_architecture = 90};

LayerShape layer_of(std::int64_t rows, std::int64_t columns, double density, long long bcol) {
  return {.bcol = bcol, .rows = rows, .columns = columns, .nonzeros = static_cast<std::int64_t>(static_cast<double>(rows * columns) * density)};
}

TEST(SparsePanels, GiveEachWarpARow) {
  for (const LayerShape& shape : {layer_of(4096, 4096, 0.05, 128), layer_of(11008, 4096, 0.08, 128), layer_of(11008, 4096, 0.031, 200)}) {
    const std::vector<ScheduleChoice> choices = sparse_panels(shape, hopper);
    ASSERT_THAT(choices, SizeIs(1));
    EXPECT_EQ(print(choices.front().schedule), "panel:ufi=1,columns=128,vector=4,groups=1,warps=1,panels=4,ufk=4,stage=off,pdl=on");
    EXPECT_NO_THROW(check_legal(choices.front().schedule, shape.bcol));
    EXPECT_THAT(choose_schedule(shape).source, StartsWith("by rule: large layers of few non-zeros"));
  }
}

TEST(SparsePanels, AreForWhatWasMeasured) {
  const LayerShape measured = layer_of(4096, 4096, 0.05, 128);
  EXPECT_THAT(sparse_panels(measured, {.oldest_architecture = 80, .newest_architecture = 90}), IsEmpty());
  for (const LayerShape& shape : {layer_of(4096, 2048, 0.05, 128), layer_of(4096, 4096, 0.02, 128), layer_of(4096, 4096, 0.1, 128), layer_of(4096, 4096, 0.05, 64), layer_of(4096, 4096, 0.05, 256)}) {
    EXPECT_THAT(sparse_panels(shape, hopper), IsEmpty()) << shape.rows << " x " << shape.columns << ", " << shape.nonzeros << ", bCol " << shape.bcol;
  }
  LayerShape other = measured;
  other.dtype = "tf32";
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
