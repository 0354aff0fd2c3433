// SPDX-License-Identifier: Apache-2.0
// Numbers of 16 bits: the stand-ins of cuda_fp16.h and cuda_bf16.h against arithmetic in double.

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include "generator/support/error.h"
#include "tests/emulation/emulation_fixture.h"
#include "tests/support/refusals.h"

namespace esc::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A type of 16 bits, and what a text calls its conversions.
struct Type16 {
  const char* name;
  const char* header;
  std::string widen;   ///< y[i] from the pattern i
  std::string narrow;  ///< the pattern of x[i]
  int mantissa_bits;
  int lowest_exponent;  ///< of a normal number
  double largest;
  bool keeps_nans;  ///< widening a NaN keeps its bits
};

void PrintTo(const Type16& type, std::ostream* out) { *out << type.name; }

constexpr std::uint32_t kPatterns = 65536;

const Type16 kHalf{"half",
                   "cuda_fp16.h",
                   "__half2float(__ushort_as_half((unsigned short)i))",
                   "__half_as_ushort(__float2half_rn(x[i]))",
                   10,
                   -14,
                   65504.0,
                   false};
const Type16 kBfloat16{"bfloat16",
                       "cuda_bf16.h",
                       "__bfloat162float(__ushort_as_bfloat16((unsigned short)i))",
                       "__bfloat16_as_ushort(__float2bfloat16_rn(x[i]))",
                       7,
                       -126,
                       std::ldexp(2.0 - std::ldexp(1.0, -7), 127),
                       true};

std::string text_of(const Type16& type, const std::string& value) {
  return std::string("#include <") + type.header + ">\n" + R"(
__global__ void convert(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = )" +
         value + R"(;
}
extern "C" cudaError_t run(const float* x, float* y, int n) { return launch(convert, n / 256, 256, 0, x, y, n); }
)";
}

/// The number that a pattern stands for, by the definition of the format.
double number_of(const Type16& type, std::uint32_t pattern) {
  const double sign = (pattern & 0x8000) != 0 ? -1.0 : 1.0;
  const int biased = static_cast<int>((pattern & 0x7fff) >> type.mantissa_bits);
  const int infinite = (1 << (15 - type.mantissa_bits)) - 1;
  const double fraction =
      std::ldexp(static_cast<double>(pattern & ((1u << type.mantissa_bits) - 1)), -type.mantissa_bits);
  if (biased == infinite) {
    return fraction == 0 ? sign * std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  }
  return sign * (biased == 0 ? std::ldexp(fraction, type.lowest_exponent)
                             : std::ldexp(1.0 + fraction, type.lowest_exponent - 1 + biased));
}

/// The number of the format that is nearest to `value`, by the default rounding of double.
double nearest(const Type16& type, float value) {
  if (std::isnan(value) || std::isinf(value) || value == 0) {
    return value;
  }
  const int exponent = std::max(std::ilogb(value), type.lowest_exponent);
  const int unit = exponent - type.mantissa_bits;
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(static_cast<double>(value), -unit)), unit);
  return std::abs(rounded) > type.largest ? std::copysign(std::numeric_limits<double>::infinity(), rounded) : rounded;
}

class HalfPrecision : public ::testing::TestWithParam<Type16> {};

TEST_P(HalfPrecision, WidensEveryPattern) {
  const Type16& type = GetParam();
  Emulation emulation(text_of(type, type.widen), 1, kPatterns);
  ASSERT_EQ(emulation.run(kPatterns), 0);
  ASSERT_THAT(emulation.device.faults(), IsEmpty()) << emulation.device.describe_faults();
  for (std::uint32_t pattern = 0; pattern < kPatterns; ++pattern) {
    const double number = number_of(type, pattern);
    const auto expected = !std::isnan(number) ? std::bit_cast<std::uint32_t>(static_cast<float>(number))
                          : type.keeps_nans   ? pattern << 16
                                              : 0x7fffffffu;
    ASSERT_EQ(std::bit_cast<std::uint32_t>(emulation.y[pattern]), expected) << std::hex << pattern;
  }
}

TEST_P(HalfPrecision, NarrowsToTheNearest) {
  const Type16& type = GetParam();
  constexpr std::uint32_t kCount = 3 * kPatterns;
  Emulation emulation(text_of(type, type.narrow), kCount, kCount);
  std::mt19937 random(7);
  for (std::uint32_t pattern = 0; pattern < kPatterns; ++pattern) {
    // Each number itself, the middle between it and the next one or a neighbour of that middle, and any float.
    const auto below = static_cast<float>(number_of(type, pattern));
    const auto above = static_cast<float>(number_of(type, pattern + 1 < kPatterns ? pattern + 1 : pattern));
    const auto middle = static_cast<float>((static_cast<double>(below) + static_cast<double>(above)) / 2);
    const float to = pattern % 3 == 0 ? middle : pattern % 3 == 1 ? below : above;
    emulation.x[3 * pattern] = below;
    emulation.x[3 * pattern + 1] = std::nextafter(middle, to);
    emulation.x[3 * pattern + 2] = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
  }
  emulation.x[0] = std::numeric_limits<float>::max();
  emulation.x[3] = std::numeric_limits<float>::denorm_min();
  emulation.x[6] = -std::numeric_limits<float>::infinity();
  ASSERT_EQ(emulation.run(kCount), 0);
  ASSERT_THAT(emulation.device.faults(), IsEmpty()) << emulation.device.describe_faults();
  for (std::uint32_t index = 0; index < kCount; ++index) {
    const auto pattern = static_cast<std::uint32_t>(emulation.y[index]);
    const float given = emulation.x[index];
    if (std::isnan(given)) {
      ASSERT_EQ(pattern, 0x7fffu) << index;
    } else {
      const double expected = nearest(type, given);
      ASSERT_EQ(number_of(type, pattern), expected) << index << " of " << given;
      ASSERT_EQ((pattern & 0x8000) != 0, std::signbit(expected)) << index << " of " << given;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, HalfPrecision, ::testing::Values(kHalf, kBfloat16),
                         [](const auto& test) { return std::string(test.param.name); });

/// What a text is refused with that has `statement` in a function.
std::string refusal_of(const std::string& statement) {
  return test::refusal_of([&] {
    compile(
        "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n__global__ void k(__half h, __nv_bfloat16 b, float f) {\n" +
        statement + "\n}\n");
  });
}

TEST(HalfPrecisionText, HasNoImplicitConversions) {
  EXPECT_EQ(refusal_of("__half copy = h; float wide = __half2float(copy); b = __float2bfloat16_rn(wide);"), "accepted");
  EXPECT_EQ(
      refusal_of("static_assert(sizeof(__half) == 2 && alignof(__half) == 2 && sizeof(__nv_bfloat162) == 4, \"\");"),
      "accepted");
  for (const char* statement :
       {"f = h;", "f = b;", "h = f;", "b = f;", "__half one = 1.0f;", "__half one{1};", "h = (__half)f;",
        "f = (float)b;", "h = h + h;", "if (b) f = 1;", "f = h.__x;", "h = b;", "__nv_bfloat16 two = 2;"}) {
    EXPECT_THAT(refusal_of(statement), HasSubstr("kernel.cu:4")) << statement;
  }
}

}  // namespace
}  // namespace esc::testing
