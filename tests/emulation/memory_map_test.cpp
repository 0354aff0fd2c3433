// SPDX-License-Identifier: Apache-2.0
#include "generator/emulate/memory_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "generator/support/error.h"

namespace esc {
namespace {

using ::testing::HasSubstr;

Region region(const std::string& name, std::uint64_t base, std::uint64_t bytes) {
  Region result;
  result.name = name;
  result.base = base;
  result.bytes = bytes;
  result.tracks_init = true;
  result.add_shadow();
  return result;
}

TEST(MemoryMap, FindsWhatHoldsAllBytes) {
  MemoryMap map;
  map.add(region("b", 0x2000, 16));
  map.add(region("a", 0x1000, 16));
  EXPECT_EQ(map.find(0x1000, 16)->name, "a");
  EXPECT_EQ(map.find(0x200f, 1)->name, "b");
  EXPECT_EQ(map.find(0x100f, 2), nullptr);
  EXPECT_EQ(map.find(0x0fff, 1), nullptr);
  EXPECT_EQ(map.find("b")->base, 0x2000u);
  EXPECT_THAT([&] { map.add(region("c", 0x1008, 16)); },
              ::testing::ThrowsMessage<UserError>(HasSubstr("c: overlaps a")));
  map.remove(*map.find("a"));
  EXPECT_EQ(map.find(0x1000, 1), nullptr);
}

TEST(MemoryMap, DescribesTheNearest) {
  MemoryMap map;
  map.add(region("a", 0x1000, 16));
  map.add(region("b", 0x2000, 16));
  EXPECT_EQ(map.describe_nearest(0x100e, 4), "2 bytes past the end of a (16 bytes), offset 14");
  EXPECT_EQ(map.describe_nearest(0x1ff0, 4), "16 bytes before the start of b (16 bytes), offset -16");
}

TEST(Region, CountsWrittenBytesAtAnyAddress) {
  Region odd = region("odd", 0x1003, 10);
  EXPECT_EQ(odd.count_uninitialised(), 10u);
  odd.set_initialised(0x1003, 2, true);
  odd.set_initialised(0x1007, 6, true);
  EXPECT_EQ(odd.count_uninitialised(), 2u);
  odd.set_initialised(0x1008, 1, false);
  EXPECT_EQ(odd.count_uninitialised(), 3u);
}

TEST(Region, ForgetsAccessesButNotWhatIsWritten) {
  Region some = region("some", 0x1000, 8);
  some.set_initialised(0x1000, 4, true);
  some.word(0x1000).write = ~std::uint64_t{0};
  some.word(0x1000).read |= ~std::uint64_t{15};
  some.forget_accesses();
  EXPECT_EQ(some.word(0x1000).write, 0u);
  EXPECT_EQ(some.word(0x1000).read, 15u);
  EXPECT_EQ(some.count_uninitialised(), 4u);
}

}  // namespace
}  // namespace esc
