// SPDX-License-Identifier: Apache-2.0
#include "generator/support/number_in.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <string>

namespace esc {
namespace {

TEST(NumberIn, IsTheWholeTextOrNothing) {
  EXPECT_EQ(number_in<int>("0"), 0);
  EXPECT_EQ(number_in<int>("-17"), -17);
  EXPECT_EQ(number_in<std::uint64_t>("18446744073709551615"), ~std::uint64_t{0});
  EXPECT_EQ(number_in<std::uint64_t>("ff", 16), 255U);
  EXPECT_EQ(number_in<std::uint64_t>("101", 2), 5U);
  for (const char* text : {"", "-", "+1", " 1", "1 ", "1.", "0x1", "1e3", "one", "1\n"}) {
    EXPECT_EQ(number_in<int>(text), std::nullopt) << text;
  }
  EXPECT_EQ(number_in<int>(std::string("1\0", 2)), std::nullopt);
}

TEST(NumberIn, IsOneThatTheTypeHas) {
  EXPECT_EQ(number_in<int>("2147483648"), std::nullopt);
  EXPECT_EQ(number_in<std::uint32_t>("-1"), std::nullopt);
  EXPECT_EQ(number_in<std::int64_t>("9223372036854775808"), std::nullopt);
  EXPECT_EQ(number_in<std::uint64_t>("18446744073709551616"), std::nullopt);
}

TEST(RealIn, ReadsWhatIsPrinted) {
  EXPECT_EQ(real_in("-1.5e3"), -1500);
  EXPECT_EQ(real_in("0x1.8p+1"), 3);
  EXPECT_EQ(real_in("-0x1p-1074"), -0x1p-1074);
  EXPECT_TRUE(std::isnan(real_in("nan").value()));
  EXPECT_EQ(real_in("-inf"), -INFINITY);
  for (const char* text : {"", "-", "--1", "0x", "0x-1", "1 ", " 1", "1s", "1e999", "0x1p99999"}) {
    EXPECT_EQ(real_in(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace esc
