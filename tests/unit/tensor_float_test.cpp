// SPDX-License-Identifier: Apache-2.0
// TF32: what a float32 is rounded to, and a matrix with it.

#include "transformer/tensor_float.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include "generator/matrix/round_values.h"
#include "generator/matrix/typed_elements.h"

namespace esc {
namespace {

using transformer::TensorFloat;

constexpr float infinity = std::numeric_limits<float>::infinity();

float rounded(float number) { return TensorFloat{number}.rounded(); }
float of_bits(std::uint32_t bits) { return std::bit_cast<float>(bits); }

/// By arithmetic in double: 11 significant bits, or those that a small number has left of multiples of 2^-136; away
/// from zero in the middle.
double nearest(float number) {
  constexpr int digits = 11;
  constexpr int least_exponent = -136;
  int exponent = 0;
  std::frexp(number, &exponent);
  const double unit = std::ldexp(1.0, std::max(exponent - digits, least_exponent));
  const double result = std::round(number / unit) * unit;
  return std::abs(result) > 0x1.ffcp127 ? std::copysign(infinity, number) : result;
}

TEST(TensorFloat, IsTheNearestNumberOfElevenBits) {
  EXPECT_EQ(rounded(0.0F), 0.0F);
  EXPECT_TRUE(std::signbit(rounded(-0.0F)));
  EXPECT_EQ(rounded(1.5F), 1.5F);
  EXPECT_EQ(rounded(0x1.004p0F), 0x1.004p0F);
  EXPECT_EQ(rounded(0x1.0011p0F), 0x1p0F);
  EXPECT_EQ(rounded(0x1.0031p0F), 0x1.004p0F);
  EXPECT_EQ(rounded(-0x1.fff8p3F), -0x1p4F) << "the exponent takes what is carried";
}

TEST(TensorFloat, GoesAwayFromZeroInTheMiddle) {
  EXPECT_EQ(rounded(0x1.002p0F), 0x1.004p0F);
  EXPECT_EQ(rounded(0x1.006p0F), 0x1.008p0F);
  EXPECT_EQ(rounded(-0x1.002p0F), -0x1.004p0F);
  EXPECT_EQ(rounded(std::nextafter(0x1.002p0F, 0.0F)), 0x1p0F);
}

TEST(TensorFloat, IsInfinityAboveTheLargest) {
  EXPECT_EQ(rounded(0x1.ffcp127F), 0x1.ffcp127F);
  EXPECT_EQ(rounded(std::nextafter(0x1.ffep127F, 0.0F)), 0x1.ffcp127F);
  EXPECT_EQ(rounded(0x1.ffep127F), infinity);
  EXPECT_EQ(rounded(-std::numeric_limits<float>::max()), -infinity);
  EXPECT_EQ(rounded(infinity), infinity);
}

TEST(TensorFloat, KeepsWhatIsNoNumber) {
  for (const std::uint32_t bits : {0x7fffffffU, 0xffffffffU, 0x7f800001U, 0xff801fffU, 0x7fc00000U}) {
    EXPECT_TRUE(std::isnan(rounded(of_bits(bits)))) << bits;
    EXPECT_EQ(std::bit_cast<std::uint32_t>(rounded(of_bits(bits))) & 0x1fffU, 0U) << bits;
  }
}

TEST(TensorFloat, IsZeroBelowHalfOfTheLeast) {
  EXPECT_EQ(rounded(0x1p-137F), 0x1p-136F);
  EXPECT_EQ(rounded(std::nextafter(0x1p-137F, 0.0F)), 0.0F);
  EXPECT_FALSE(static_cast<bool>(TensorFloat{0x1p-138F}));
  EXPECT_FALSE(static_cast<bool>(TensorFloat{-0.0F}));
  EXPECT_TRUE(static_cast<bool>(TensorFloat{-0x1p-137F}));
  EXPECT_TRUE(static_cast<bool>(TensorFloat{std::numeric_limits<float>::quiet_NaN()}));
}

TEST(TensorFloat, IsWhatArithmeticSays) {
  std::mt19937 random(7);
  for (int i = 0; i < 200'000; ++i) {
    const float number = of_bits(static_cast<std::uint32_t>(random()));
    if (std::isfinite(number)) {
      ASSERT_EQ(rounded(number), nearest(number)) << std::bit_cast<std::uint32_t>(number);
    }
  }
}

TEST(RoundValues, CountsWhatTf32DoesNotHold) {
  SparseMatrix matrix{2, 3, {0, 3, 5}, {0, 1, 2, 0, 2}, {0x1.002p0, 0x1p-140, -0.3F, 0x1.ffep127, -0x1.004p0}};
  const Rounding rounding = round_values(matrix, ScalarType::tf32);
  EXPECT_EQ(rounding.became_zero, 1);
  EXPECT_EQ(rounding.became_infinite, 1);
  EXPECT_EQ(matrix.element, ScalarType::tf32);
  EXPECT_THAT(matrix.offsets, testing::ElementsAre(0, 2, 4));
  EXPECT_THAT(matrix.column_of, testing::ElementsAre(0, 2, 0, 2));
  EXPECT_THAT(matrix.values, testing::ElementsAre(0x1.004p0, nearest(-0.3F), infinity, -0x1.004p0));
}

/// In memory all digits stay: B and C are float32.
TEST(TypedElements, OfTf32AreThoseOfFloat32) {
  const TypedElements elements(ScalarType::tf32, std::vector<double>{0x1.002p0, 0.1});
  EXPECT_EQ(elements.size(), 2U);
  EXPECT_EQ(elements.elements<float>()[0], 0x1.002p0F);
  EXPECT_EQ(elements.elements<float>()[1], 0.1F);
  EXPECT_EQ(kernel_element("tf32"), ScalarType::tf32);
  EXPECT_EQ(kernel_element("tf19"), std::nullopt);
  EXPECT_EQ(kernel_element_words(), "f32, f64, f16, bf16 or tf32");
}

}  // namespace
}  // namespace esc
