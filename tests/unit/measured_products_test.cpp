// SPDX-License-Identifier: Apache-2.0
// The text of what was measured on a device, and what is kept of it.

#include "generator/schedule/measured_products.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/support/refusals.h"

namespace esc {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

TimedProduct product(const std::string& dtype, std::vector<TimedSchedule> schedules) {
  return {{.bcol = 64,
           .rows = 512,
           .columns = 256,
           .nonzeros = 13107,
           .longest_row = 40,
           .row_variation = 0.125,
           .pattern = "layer",
           .layout = "nk",
           .contiguous = false,
           .dtype = dtype,
           .cache = CacheState::cold},
          std::move(schedules)};
}

TimedSchedule timed(const std::string& schedule, double microseconds) {
  return {parse_schedule(schedule), microseconds};
}

DeviceMeasurements measurements() {
  return {.key = {90, 132, 60ULL << 20},
          .products = {product("f32", {timed("panel:ufi=2,warps=4", 2.125), timed("rows:columns=32,vector=4", 3.5)}),
                       product("f16", {timed("panel:ufi=2,warps=4", 1.5)})}};
}

TEST(MeasuredProducts, RoundTrip) {
  const std::string text = print(measurements());
  const DeviceMeasurements read = measurements_in(text, "file.txt");
  EXPECT_EQ(print(read), text);
  EXPECT_EQ(read.key, measurements().key);
  ASSERT_THAT(read.products, SizeIs(2));
  const TimedProduct& second = read.products[1];  // sorted
  EXPECT_EQ(second.shape.dtype, "f32");
  EXPECT_EQ(second.shape.layout, "nk");
  EXPECT_EQ(second.shape.pattern, "layer");
  EXPECT_FALSE(second.shape.contiguous);
  EXPECT_EQ(second.shape.cache, CacheState::cold);
  EXPECT_EQ(second.shape.row_variation, 0.125);
  EXPECT_EQ(second.schedules, measurements().products[0].schedules);
  EXPECT_EQ(file_name(read.key), "sm90-132sm-60mib_corrections.txt");
}

TEST(MeasuredProducts, DoNotDependOnTheirOrder) {
  DeviceMeasurements other = measurements();
  std::swap(other.products[0], other.products[1]);
  EXPECT_EQ(print(other), print(measurements()));
}

/// Files of before say nothing of the cache: it was as is usual for the type.
TEST(MeasuredProducts, ReadFilesWithoutTheStateOfTheCache) {
  for (const auto& [dtype, usual] : {std::pair("f32", CacheState::warm), std::pair("bf16", CacheState::cold)}) {
    const std::string head = "device sm90-132sm-60mib\nschedule 0 panel:ufi=2\nproduct " + std::string(dtype) + " nk ";
    const std::string sizes = "64 0 512 256 13107 40 125 layer 0:1.5\n";
    EXPECT_EQ(measurements_in(head + sizes, "file.txt").products.front().shape.cache, usual);
    EXPECT_EQ(measurements_in(head + "warm " + sizes, "file.txt").products.front().shape.cache, CacheState::warm);
  }
}

/// One product in two states of the cache is two.
TEST(MeasuredProducts, AreOneForEachStateOfTheCache) {
  DeviceMeasurements both = measurements();
  both.products.resize(1);
  both.products.push_back(both.products.front());
  EXPECT_THAT(merged({both}).front().products, SizeIs(1));
  both.products.back().shape.cache = CacheState::warm;
  EXPECT_THAT(merged({both}).front().products, SizeIs(2));
}

TEST(MeasuredProducts, RefuseWhatIsNoneOfThem) {
  const std::string head = "device sm90-132sm-60mib\nschedule 0 panel:ufi=2\n";
  const std::string of_product = "product f32 kn 64 1 512 256 13107 40 125 layer";
  const auto refusal = [&](const std::string& line) {
    return test::refusal_of([&] { measurements_in(head + line + "\n", "file.txt"); });
  };
  EXPECT_EQ(refusal(of_product + " 0:1.5"), "accepted");
  EXPECT_THAT(refusal("product f32 kn tepid 64 1 512 256 13107 40 125 layer 0:1.5"),
              HasSubstr("file.txt:3: has 'tepid' where warm or cold is needed"));
  EXPECT_THAT(refusal(of_product + " 1:1.5"), HasSubstr("file.txt:3: there is no schedule 1 before it"));
  for (const std::string time : {"0:-1", "0", "0:x", "0:1.5x", ":1.5"}) {
    EXPECT_THAT(refusal(of_product + " " + time), HasSubstr("is no number of a schedule and its time")) << time;
  }
  EXPECT_THAT(refusal("product f32 kn many 1"), HasSubstr("file.txt:3: "));
  EXPECT_THAT(refusal("layer 3"), HasSubstr("not of 'layer'"));
  EXPECT_THAT(refusal("device h200"), HasSubstr("file.txt:3: "));
}

TEST(MeasuredProducts, KeepTheFastestOfEachFamilyAndSomeOthers) {
  std::vector<TimedSchedule> schedules;
  for (int stages = 2; stages <= 5; ++stages) {
    for (int row_tiles = 1; row_tiles <= 8; ++row_tiles) {
      schedules.push_back(
          {StreamSchedule{.row_tiles = row_tiles, .warps = 1, .stages = stages}, 100.0 - row_tiles - 8 * stages});
    }
  }
  schedules.push_back(timed("panel:ufi=2,warps=4", 500));
  const TimedProduct kept = thinned(product("f32", schedules));
  ASSERT_THAT(kept.schedules, SizeIs(13));
  EXPECT_TRUE(std::ranges::is_sorted(kept.schedules, {}, &TimedSchedule::microseconds));
  EXPECT_EQ(kept.schedules[7].microseconds, 100.0 - 1 - 8 * 5) << "the eighth of all";
  EXPECT_EQ(family(kept.schedules.back().schedule), "panel") << "whose family has no other";
  EXPECT_THAT(thinned(kept).schedules, SizeIs(13)) << "of few nothing is left out";
}

}  // namespace
}  // namespace esc
