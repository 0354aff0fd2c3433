// SPDX-License-Identifier: Apache-2.0
// Large layers of few non-zeros: which of them gather rows of B from shared memory, and in what blocks.

#include "generator/schedule/gathered_rows.h"

#include <gtest/gtest.h>

#include "tests/support/rule_layers.h"

namespace esc {
namespace {

using test::expect_choices;
using test::expect_no_choices;
using test::ExpectedSchedule;
using test::hopper;
using test::layer_of;

constexpr const char* source = "by rule: large layers of few non-zeros gather rows of B";

TEST(GatheredRows, DealTheRowsOutToAllMultiprocessors) {
  const ExpectedSchedule table[] = {
      {layer_of(11008, 4096, 0.05, 32), "gather:warps=11,sets=2,pdl=on"},
      {layer_of(11008, 4096, 0.1, 32), "gather:warps=11,sets=2,pdl=on"},
      {layer_of(11008, 4096, 0.05, 64), "gather:warps=14,sets=3,pdl=on"},
      {layer_of(11008, 4096, 0.05, 128), "gather:warps=12,sets=7,pdl=on"},
      {layer_of(11008, 4096, 0.05, 256), "gather:warps=12,sets=7,pdl=on"},
      {layer_of(4096, 4096, 0.05, 128), "gather:warps=16,sets=2,pdl=on"},
      {layer_of(8192, 8192, 0.02, 128), "gather:warps=16,sets=4,pdl=on"},
      {layer_of(8192, 8192, 0.02, 256),
       "gather:warps=16,sets=4,pdl=on"},  // twice: lanes have no registers for eight sets
      {layer_of(28672, 8192, 0.05, 64), "gather:warps=11,sets=5,pdl=on"},
      {layer_of(11008, 4096, 0.05, 32, "tf32"), "gather:warps=11,sets=2,pdl=on"},
  };
  expect_choices(gathered_rows, table, 2, source);
}

TEST(GatheredRows, HaveOneScheduleWhereASetOfRowsIsAll) {
  const ExpectedSchedule table[] = {{layer_of(2048, 2048, 0.1, 64), "gather:warps=8,sets=1,pdl=on"},
                                    {layer_of(4096, 4096, 0.15, 32), "gather:warps=8,sets=1,pdl=on"},
                                    {layer_of(4096, 4096, 0.1, 32), "gather:warps=8,sets=1,pdl=on"},
                                    {layer_of(4096, 4096, 0.05, 64), "gather:warps=16,sets=1,pdl=on"}};
  expect_choices(gathered_rows, table, 1, source);
}

/// With 7 % non-zeros the lists of 336 rows do not fit beside the windows.
TEST(GatheredRows, HaveRoomForTheirLists) {
  const ExpectedSchedule table[] = {{layer_of(11008, 4096, 0.07, 128), "gather:warps=14,sets=3,pdl=on"}};
  expect_choices(gathered_rows, table, 2, source);
}

TEST(GatheredRows, LeaveTheFewestNonZerosToPanels) {
  const LayerShape layers[] = {
      layer_of(4096, 4096, 0.02, 32), layer_of(4096, 4096, 0.02, 64), layer_of(11008, 4096, 0.018, 32),
      layer_of(2048, 8192, 0.05, 32), layer_of(2048, 2048, 0.1, 32),  layer_of(4096, 1024, 0.05, 128),
      layer_of(2048, 4096, 0.05, 64), layer_of(4096, 4096, 0.05, 16), layer_of(4096, 4096, 0.2, 64)};
  expect_no_choices(gathered_rows, layers, layer_of(11008, 4096, 0.05, 64), "f16");
}

TEST(GatheredRows, StandBehindStreamsWhereTheseAreFaster) {
  EXPECT_TRUE(gathers_faster_than_streams(layer_of(11008, 4096, 0.1, 32)));
  EXPECT_FALSE(gathers_faster_than_streams(layer_of(11008, 4096, 0.1, 64)));
  EXPECT_TRUE(gathers_faster_than_streams(layer_of(11008, 4096, 0.07, 128)));
  EXPECT_TRUE(gathers_faster_than_streams(layer_of(11008, 4096, 0.05, 64, "tf32")));
  EXPECT_FALSE(gathers_faster_than_streams(layer_of(11008, 4096, 0.05, 128, "tf32")));
  EXPECT_THAT(choose_schedule(layer_of(11008, 4096, 0.1, 128)).source, testing::Not(testing::StartsWith(source)));
}

}  // namespace
}  // namespace esc
