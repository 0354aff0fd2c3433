// SPDX-License-Identifier: Apache-2.0
// The 16-bit types against their definition: every number of them, and rounding of doubles against a search for the
// nearest among all numbers.

#include "transformer/half_floats.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace esc::transformer {
namespace {

/// A type with so many bits of fraction, by the definition of IEEE 754.
template <typename Half>
struct Definition {
  static constexpr int fraction_bits = Half::fraction_bits;
  static constexpr int exponent_bits = 15 - fraction_bits;
  static constexpr int bias = (1 << (exponent_bits - 1)) - 1;

  static double value(std::uint32_t bits) {
    const int exponent = static_cast<int>(bits >> fraction_bits) & ((1 << exponent_bits) - 1);
    const int fraction = static_cast<int>(bits) & ((1 << fraction_bits) - 1);
    const double sign = bits >> 15 != 0 ? -1 : 1;
    if (exponent == (1 << exponent_bits) - 1) {
      return sign * (fraction == 0 ? INFINITY : NAN);
    }
    const int whole = exponent == 0 ? 0 : 1 << fraction_bits;
    return sign * std::ldexp(whole + fraction, std::max(exponent, 1) - bias - fraction_bits);
  }

  static std::uint32_t infinity() { return ((1U << exponent_bits) - 1) << fraction_bits; }

  /// The magnitudes of all finite numbers, and the power of two after them, which rounds to infinity.
  static std::vector<double> magnitudes() {
    std::vector<double> all;
    for (std::uint32_t bits = 0; bits < infinity(); ++bits) {
      all.push_back(value(bits));
    }
    all.push_back(std::ldexp(1.0, bias + 1));
    return all;
  }

  static std::uint16_t nearest(double wide, const std::vector<double>& magnitudes) {
    const std::uint16_t sign = std::signbit(wide) ? 0x8000 : 0;
    const double magnitude = std::abs(wide);
    const auto above = std::ranges::lower_bound(magnitudes, magnitude) - magnitudes.begin();
    if (above == std::ssize(magnitudes)) {
      return static_cast<std::uint16_t>(sign | infinity());
    }
    auto best = static_cast<std::size_t>(above);
    if (best > 0) {
      const double over = magnitudes[best] - magnitude;
      const double under = magnitude - magnitudes[best - 1];
      best -= under < over || (under == over && best % 2 == 1) ? 1 : 0;
    }
    return static_cast<std::uint16_t>(sign | best);
  }
};

template <typename Half>
class HalfFloats : public testing::Test {};
using BothTypes = testing::Types<Float16, BFloat16>;
TYPED_TEST_SUITE(HalfFloats, BothTypes);

template <typename Half>
Half of_bits(std::uint32_t bits) {
  Half half;
  half.bits = static_cast<std::uint16_t>(bits);
  return half;
}

TYPED_TEST(HalfFloats, AllOfThemConvertExactlyAndBack) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const TypeParam half = of_bits<TypeParam>(bits);
    const double expected = Definition<TypeParam>::value(bits);
    const auto wide = static_cast<double>(half);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(wide)) << bits;
      ASSERT_TRUE(std::isnan(static_cast<float>(half))) << bits;
      ASSERT_TRUE(std::isnan(static_cast<double>(TypeParam(wide)))) << bits;
      ASSERT_EQ(TypeParam(wide).bits >> 15, bits >> 15);
      ASSERT_TRUE(static_cast<bool>(half)) << bits;
      continue;
    }
    ASSERT_EQ(std::bit_cast<std::uint64_t>(wide), std::bit_cast<std::uint64_t>(expected)) << bits;
    ASSERT_EQ(static_cast<float>(half), expected) << bits;
    ASSERT_EQ(TypeParam(wide).bits, bits);
    ASSERT_EQ(static_cast<bool>(half), expected != 0) << bits;
  }
}

TYPED_TEST(HalfFloats, RoundToTheNearestAndToEven) {
  const std::vector<double> magnitudes = Definition<TypeParam>::magnitudes();
  const auto agrees = [&](double wide) {
    ASSERT_EQ(TypeParam(wide).bits, Definition<TypeParam>::nearest(wide, magnitudes)) << std::hexfloat << wide;
    ASSERT_EQ(TypeParam(-wide).bits, Definition<TypeParam>::nearest(-wide, magnitudes)) << std::hexfloat << -wide;
  };
  for (std::size_t number = 0; number + 1 < magnitudes.size(); ++number) {
    const double middle = magnitudes[number] + (magnitudes[number + 1] - magnitudes[number]) / 2;
    agrees(middle);
    agrees(std::nextafter(middle, 0));
    agrees(std::nextafter(middle, INFINITY));
  }
  std::mt19937_64 random(1);
  for (int draw = 0; draw < 300'000; ++draw) {
    const auto wide = std::bit_cast<double>(random());
    if (!std::isnan(wide)) {
      agrees(wide);
    }
    // Most doubles are far above or below what 16 bits hold.
    agrees(std::ldexp(static_cast<double>(random()), static_cast<int>(random() % 340) - 234));
  }
}

TYPED_TEST(HalfFloats, WhatIsBeyondThemIsInfiniteZeroOrNotANumber) {
  const double least = Definition<TypeParam>::value(1);
  EXPECT_EQ(static_cast<double>(TypeParam(std::numeric_limits<double>::max())), INFINITY);
  EXPECT_EQ(static_cast<double>(TypeParam(-INFINITY)), -INFINITY);
  EXPECT_EQ(TypeParam(least / 2).bits, 0);
  EXPECT_EQ(TypeParam(-least / 2).bits, 0x8000);
  EXPECT_EQ(TypeParam(-std::numeric_limits<double>::denorm_min()).bits, 0x8000);
  EXPECT_EQ(TypeParam(std::nextafter(least / 2, 1)).bits, 1);
  EXPECT_TRUE(std::isnan(static_cast<double>(TypeParam(std::bit_cast<double>(std::uint64_t{0x7ff0000000000001})))))
      << "a NaN whose upper bits are zero";
}

}  // namespace
}  // namespace esc::transformer
