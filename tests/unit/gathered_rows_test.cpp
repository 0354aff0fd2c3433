// SPDX-License-Identifier: Apache-2.0
// Large layers of few non-zeros: which of them gather rows of B from shared memory, and in what blocks.

#include "generator/schedule/gathered_rows.h"

#include <gtest/gtest.h>

#include "tests/support/rule_layers.h"

namespace esc {
namespace {

using test::expect_choices;
using test::expect_no_choices;
using test::hopper;
using test::layer_of;

constexpr const char* source = "by rule: large layers of few non-zeros gather rows of B";

/// In each turn nearly all of them have a block.
void expect_rows_for_all_multiprocessors(const LayerShape& shape, const Schedule& schedule) {
  const std::int64_t rows = std::get<GatherSchedule>(schedule).block_rows();
  const std::int64_t blocks =
      quotient_up(shape.rows, rows) * quotient_up(shape.bcol, std::int64_t{GatherSchedule::columns});
  const std::int64_t places = quotient_up(blocks, std::int64_t{hopper.multiprocessors}) * hopper.multiprocessors;
  EXPECT_GE(static_cast<double>(blocks), 0.95 * static_cast<double>(places))
      << test::print(shape) << ": " << print(schedule);
}

TEST(GatheredRows, DealTheRowsOutToAllMultiprocessors) {
  const LayerShape layers[] = {
      layer_of(11008, 4096, 0.05, 32),
      layer_of(11008, 4096, 0.1, 32),
      layer_of(11008, 4096, 0.05, 64),
      layer_of(11008, 4096, 0.05, 128),
      layer_of(11008, 4096, 0.05, 256),
      layer_of(4096, 4096, 0.05, 128),
      layer_of(8192, 8192, 0.02, 128),
      layer_of(8192, 8192, 0.02, 256),  // twice: lanes have no registers for eight
                                        // sets
      layer_of(28672, 8192, 0.05, 64),
      layer_of(11008, 4096, 0.05, 32, "tf32"),
  };
  expect_choices(gathered_rows, layers, 2, source, expect_rows_for_all_multiprocessors);
}

TEST(GatheredRows, HaveOneScheduleWhereASetOfRowsIsAll) {
  const LayerShape layers[] = {layer_of(2048, 2048, 0.1, 64), layer_of(4096, 4096, 0.15, 32),
                               layer_of(4096, 4096, 0.1, 32), layer_of(4096, 4096, 0.05, 64)};
  expect_choices(gathered_rows, layers, 1, source, expect_rows_for_all_multiprocessors);
}

/// With 7 % non-zeros the lists of 336 rows do not fit beside the windows.
TEST(GatheredRows, HaveRoomForTheirLists) {
  const LayerShape layers[] = {layer_of(11008, 4096, 0.07, 128)};
  expect_choices(gathered_rows, layers, 2, source, [](const LayerShape& shape, const Schedule& schedule) {
    EXPECT_LT(std::get<GatherSchedule>(schedule).block_rows(), 336);
    expect_rows_for_all_multiprocessors(shape, schedule);
  });
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
