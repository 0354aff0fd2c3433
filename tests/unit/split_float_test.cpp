// SPDX-License-Identifier: Apache-2.0
// Float32 as two halves: every half against its definition, rounding against arithmetic in double, how much of a float two
// of them hold, and that what they hold is split into the same bits again.

#include "transformer/split_float.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

namespace esc::transformer {
namespace {

constexpr std::uint32_t infinite_half = 0x7c00;
constexpr std::uint32_t unscaled = 141;  ///< the exponent with which numbers are scaled by 1

/// By the definition of IEEE 754.
double value_of_half(std::uint32_t bits) {
  const auto exponent = static_cast<int>(bits >> 10 & 31);
  const auto fraction = static_cast<int>(bits & 1023);
  const double sign = bits >> 15 != 0 ? -1 : 1;
  if (exponent == 31) {
    return sign * (fraction == 0 ? INFINITY : NAN);
  }
  return sign * (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25));
}

/// The multiple of what the last bit counts that is nearest, an even one in the middle.
std::uint32_t nearest_half(float number) {
  int exponent = 0;
  const double magnitude = std::abs(static_cast<double>(number));
  std::frexp(magnitude, &exponent);
  const int last = std::clamp(exponent - 11, -24, 6);
  const double steps = std::nearbyint(std::ldexp(magnitude, -last));
  const double bits = std::min((last + 24) * 1024 + steps, static_cast<double>(infinite_half));
  return (std::signbit(number) ? 0x8000U : 0U) | static_cast<std::uint32_t>(bits);
}

/// What two halves say of a scaled number.
double scaled_value(std::uint32_t halves) { return value_of_half(halves & 0xffff) + value_of_half(halves >> 16) / 2048; }
double scale_of(std::uint32_t exponent) { return std::ldexp(1.0, 141 - static_cast<int>(exponent)); }

void expect_nearest(float number) {
  ASSERT_EQ(HalfNumber::nearest(number).bits, nearest_half(number)) << std::hexfloat << number;
  ASSERT_EQ(HalfNumber::nearest(-number).bits, nearest_half(-number)) << std::hexfloat << -number;
}

/// What is stored of a number is a float, is near it, of its sign, and is stored by the same bits.
void expect_split(const SplitFloats& split, float number) {
  const std::uint32_t bits = split.bits(number);
  const double value = split.value(bits);
  ASSERT_EQ(value * scale_of(split.exponent), scaled_value(bits)) << std::hexfloat << number;
  ASSERT_EQ(static_cast<double>(static_cast<float>(value)), value) << std::hexfloat << number;
  ASSERT_EQ(split.bits(static_cast<float>(value)), bits) << std::hexfloat << number << " with exponent " << split.exponent;
  ASSERT_EQ(value != 0, number != 0) << std::hexfloat << number << " with exponent " << split.exponent;
  ASSERT_EQ(std::signbit(value), std::signbit(number)) << std::hexfloat << number;
}

TEST(HalfNumber, HasTheValueOfItsBits) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const double expected = value_of_half(bits);
    const float found = HalfNumber{bits}.value();
    ASSERT_EQ(HalfNumber{bits}.is_finite(), std::isfinite(expected)) << bits;
    ASSERT_EQ(std::signbit(found), bits >> 15 != 0) << bits;
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(found)) << bits;
      ASSERT_EQ(HalfNumber::nearest(found).bits, (bits & 0x8000) | 0x7e00) << bits;
    } else {
      ASSERT_EQ(static_cast<double>(found), expected) << bits;
      ASSERT_EQ(HalfNumber::nearest(found).bits, bits);
    }
  }
}

TEST(HalfNumber, IsTheNearestAndEvenInTheMiddle) {
  for (std::uint32_t bits = 0; bits < infinite_half; ++bits) {
    const double above = bits + 1 == infinite_half ? 65536 : value_of_half(bits + 1);
    const auto middle = static_cast<float>((value_of_half(bits) + above) / 2);
    expect_nearest(middle);
    expect_nearest(std::nextafter(middle, 0.0F));
    expect_nearest(std::nextafter(middle, INFINITY));
  }
  std::mt19937_64 random(1);
  for (int draw = 0; draw < 1'000'000; ++draw) {
    const auto any = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    if (!std::isnan(any)) {
      expect_nearest(any);
    }
    // Most floats are far above or below what 16 bits hold.
    expect_nearest(static_cast<float>(std::ldexp(static_cast<double>(random()), static_cast<int>(random() % 46) - 92)));
  }
}

TEST(HalfNumber, IsInfiniteZeroOrNotANumberBeyondTheOthers) {
  EXPECT_EQ(HalfNumber::nearest(65504).bits, 0x7bffU);
  EXPECT_EQ(HalfNumber::nearest(std::nextafter(65520.0F, 0.0F)).bits, 0x7bffU);
  EXPECT_EQ(HalfNumber::nearest(65520).bits, infinite_half);
  EXPECT_EQ(HalfNumber::nearest(std::numeric_limits<float>::max()).bits, infinite_half);
  EXPECT_EQ(HalfNumber::nearest(-INFINITY).bits, 0xfc00U);
  EXPECT_EQ(HalfNumber::nearest(0x1p-25F).bits, 0U);
  EXPECT_EQ(HalfNumber::nearest(std::nextafter(0x1p-25F, 1.0F)).bits, 1U);
  EXPECT_EQ(HalfNumber::nearest(-std::numeric_limits<float>::denorm_min()).bits, 0x8000U);
  EXPECT_EQ(HalfNumber::nearest(std::bit_cast<float>(0x7f800001U)).bits, 0x7e00U) << "a NaN whose upper bits are zero";
  EXPECT_EQ(HalfNumber::nearest(std::bit_cast<float>(0xffc00000U)).bits, 0xfe00U);
}

/// A float of 24 bits may lose one of them, and more only where the least halves count more than 2^-23 of it.
TEST(SplitFloats, HoldNumbersOfOneRangeNearlyWhole) {
  std::mt19937_64 random(2);
  double most_of_itself = 0;
  double most_of_small = 0;
  double most = 0;
  for (int draw = 0; draw < 4'000'000; ++draw) {
    const std::uint32_t exponent = 14 + static_cast<std::uint32_t>(random() % 241);
    const std::uint32_t below = static_cast<std::uint32_t>(random() % (draw % 2 == 0 ? 30 : 60));
    const std::uint32_t own = exponent > below ? exponent - below : 0;
    const auto number = std::bit_cast<float>(static_cast<std::uint32_t>(random() & 0x807fffffU) | own << 23);
    const double scaled = number * scale_of(exponent);
    const double error = std::abs(scaled_value(SplitFloats{exponent}.bits(number)) - scaled);
    const double magnitude = std::abs(scaled);
    if (magnitude >= 0x1p-13) {
      most_of_itself = std::max(most_of_itself, error / magnitude);
    } else if (magnitude >= 0x1p-14) {
      most_of_small = std::max(most_of_small, error / magnitude);
    } else if (magnitude >= 0x1p-36) {
      most = std::max(most, error);
    } else {
      ASSERT_TRUE(number == 0 || error < 0x1p-35) << std::hexfloat << number << " becomes the least number";
    }
  }
  fmt::print("the greatest errors are 2^{:.3f} of a number down to 2^-13, 2^{:.3f} of one down to 2^-14, and 2^{:.3f} below\n", std::log2(most_of_itself), std::log2(most_of_small),
             std::log2(most));
  EXPECT_LE(most_of_itself, 0x1p-23);
  EXPECT_LE(most_of_small, 0x1p-22);
  EXPECT_LE(most, 0x1p-36);
  EXPECT_GT(most_of_itself, 0x1p-24) << "or more is promised than is looked for";
}

/// About the middle of each two halves, where the leading one may be either.
TEST(SplitFloats, SplitWhatTheyHoldIntoTheSameBits) {
  const SplitFloats split{unscaled};
  constexpr std::uint32_t behind_greatest = 0x7800;  // 2^15
  for (std::uint32_t leading = 0; leading < behind_greatest; ++leading) {
    const auto middle = static_cast<float>((value_of_half(leading) + value_of_half(leading + 1)) / 2);
    float above = middle;
    float below = middle;
    for (int step = 0; step < 20; ++step) {
      for (const float number : {above, -above, below, -below}) {
        expect_split(split, number);
      }
      above = std::nextafter(above, INFINITY);
      below = std::nextafter(below, 0.0F);
    }
    if (HasFatalFailure()) {
      return;
    }
  }
}

TEST(SplitFloats, SplitAnyNumbersIntoTheSameBits) {
  std::mt19937_64 random(3);
  for (int draw = 0; draw < 4'000'000 && !HasFatalFailure(); ++draw) {
    const std::uint32_t exponent = 14 + static_cast<std::uint32_t>(random() % 241);
    const auto own = static_cast<std::uint32_t>(random() % (exponent + 1));
    const auto close = exponent - std::min(exponent, static_cast<std::uint32_t>(random() % 60));
    const auto fraction = static_cast<std::uint32_t>(random() & 0x807fffffU);
    expect_split({exponent}, std::bit_cast<float>(fraction | own << 23));
    expect_split({exponent}, std::bit_cast<float>(fraction | close << 23));
  }
}

TEST(SplitFloats, AreZeroOfNothingButZero) {
  for (std::uint32_t exponent = 14; exponent < 255 && !HasFatalFailure(); ++exponent) {
    const SplitFloats split{exponent};
    EXPECT_EQ(split.bits(0.0F) & 0x7fff7fffU, 0U);
    for (int power = -149; power < static_cast<int>(exponent) - 127; ++power) {
      for (const double factor : {1.0, 1.25, 1.5, 1.75}) {
        const auto number = static_cast<float>(std::ldexp(factor, power));
        expect_split(split, number);
        expect_split(split, -number);
      }
    }
  }
}

TEST(SplitFloats, HoldTheGreatestAndTheLeastFloats) {
  constexpr float greatest = std::numeric_limits<float>::max();
  constexpr float least = std::numeric_limits<float>::denorm_min();
  EXPECT_EQ(SplitFloats{254}.value(SplitFloats{254}.bits(greatest)), greatest);
  EXPECT_EQ(SplitFloats{254}.value(SplitFloats{254}.bits(-greatest)), -greatest);
  EXPECT_EQ(SplitFloats{14}.value(SplitFloats{14}.bits(least)), least);
  for (std::uint32_t bits = 1; bits < 0x800000U; bits += 37) {
    expect_split({14}, std::bit_cast<float>(bits));
  }
}

TEST(SplitFloats, KeepWhatIsNotFinite) {
  for (const std::uint32_t exponent : {14U, unscaled, 254U}) {
    const SplitFloats split{exponent};
    EXPECT_EQ(split.bits(INFINITY), infinite_half);
    EXPECT_EQ(split.bits(-INFINITY), 0x8000 | infinite_half);
    EXPECT_EQ(split.value(split.bits(INFINITY)), INFINITY);
    EXPECT_EQ(split.value(split.bits(-INFINITY)), -INFINITY);
    EXPECT_TRUE(std::isnan(split.value(split.bits(NAN))));
    EXPECT_EQ(split.bits(static_cast<float>(split.value(split.bits(NAN)))), split.bits(NAN));
  }
}

}  // namespace
}  // namespace esc::transformer
