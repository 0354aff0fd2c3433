// SPDX-License-Identifier: Apache-2.0
// Copies of tiles and packed tiles by warps of their own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "generator/ir/linear_nk_nest.h"
#include "generator/ir/performed_instructions.h"
#include "generator/ir/print.h"
#include "generator/ir/roles.h"
#include "generator/lower/canonicalize.h"
#include "generator/lower/cluster_iterations.h"
#include "generator/lower/fragment_columns.h"
#include "generator/lower/mainloop.h"
#include "generator/lower/overlap.h"
#include "generator/lower/pack_bitmap.h"
#include "generator/lower/pipeline_tiles.h"
#include "generator/lower/producer_warps.h"
#include "tests/unit/refused_step.h"

namespace esc {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

LoopNest of_warpgroups(int row_tiles, int warps, int columns) {
  const LoopNest nest = canonicalize(linear_nk_nest(ScalarType::f16));
  return pack_bitmap(fragment_columns(mainloop(nest, {"i", row_tiles, warps}), {"j", columns}), {"A", 4});
}

LoopNest pipelined(int row_tiles = 4, int warps = 2, int columns = 64) {
  return pipeline_tiles(of_warpgroups(row_tiles, warps, columns), {"k", 4, 2});
}

std::int64_t threads_of(const LoopNest& nest) { return nest.constant("threads_per_block"); }

TEST(ProducerWarps, IssueCopiesAsStagesAreReleased) {
  const std::string text = print(producer_warps(pipelined(), {"B"}));
  EXPECT_THAT(text, AllOf(HasSubstr("role = warp_of_block / consumer_warps;"), HasSubstr("wait_for_tile_release("),
                          HasSubstr("wait_for_packed_tile_release("), HasSubstr("release_tile("),
                          HasSubstr("release_packed_tile("), HasSubstr("issue_packed_tile(")));
  EXPECT_LT(text.find("wait_for_tile_release("), text.find("wgmma("));
  EXPECT_LT(text.find("wgmma("), text.find("release_tile(", text.find("wgmma(")));
}

TEST(ProducerWarps, StandBehindTheConsumers) {
  const LoopNest before = pipelined();
  const LoopNest after = producer_warps(before, {"B"});
  EXPECT_EQ(threads_of(before), 256);
  EXPECT_EQ(threads_of(after), 256 + 64) << "one for tiles, one for packed tiles";
  EXPECT_TRUE(has_producer_warps(after));
  EXPECT_EQ(after.unpacking.front().constant("threads_per_block"), 256) << "who unpacks has none";
}

/// 128 sums of each of 256 threads beside what decodes do not fit in what ptxas gives twelve warps.
TEST(ProducerWarps, GiveRegistersToConsumersThatLackThem) {
  const LoopNest of_256 = producer_warps(pipelined(8, 1, 256), {"B"});
  EXPECT_EQ(threads_of(of_256), 256 + 128);
  EXPECT_EQ(of_256.constant("consumer_registers"), 240);
  EXPECT_TRUE(performs(of_256, "take_registers"));
  const LoopNest of_128 = producer_warps(pipelined(8, 1, 128), {"B"});
  EXPECT_EQ(threads_of(of_128), 256 + 64);
  EXPECT_FALSE(performs(of_128, "take_registers"));
}

TEST(ProducerWarps, ServeTheBlocksOfAClusterEachItsOwn) {
  const LoopNest dealt = cluster_iterations(pipelined(), {"k", 2});
  EXPECT_THAT(print(producer_warps(dealt, {"B"})), HasSubstr("group_k_tile = rank * iteration_k_tiles + group;"));
}

/// Tiles that no box can copy, of warps that multiply by themselves, are left to these.
TEST(ProducerWarps, LeaveNestsWithoutBoxesAsTheyAre) {
  const LoopNest by_warps = pipeline_tiles(
      pack_bitmap(fragment_columns(mainloop(canonicalize(linear_nk_nest(ScalarType::f16)), {"i", 2, 2}), {"j", 16}),
                  {"A"}),
      {"k", 3, 2});
  EXPECT_EQ(print(producer_warps(by_warps, {"B"})), print(by_warps));
}

const StepRefusal refusals[] = {
    {"twice", [] { producer_warps(producer_warps(pipelined(), {"B"}), {"B"}); }, "a producer warp copies already"},
    {"behind pdl", [] { producer_warps(overlap(pipelined(), {}), {"B"}); }, "specialize warps before pdl()"},
    {"nothing copied", [] { producer_warps(of_warpgroups(4, 2, 64), {"B"}); }, "pipeline(k, ..)"}};

INSTANTIATE_TEST_SUITE_P(ProducerWarps, RefusedStep, testing::ValuesIn(refusals));

}  // namespace
}  // namespace esc
