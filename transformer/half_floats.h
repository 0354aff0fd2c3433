// SPDX-License-Identifier: Apache-2.0
#pragma once

// The 16-bit floating-point types, which C++20 has no types for.

#include "transformer/half_bits.h"

namespace esc::transformer {

/// A number of 16 bits that is made of a double, rounded to the nearest and to even in the middle, and widened exactly.
template <int exponent_bits>
struct HalfFloat : HalfBits<exponent_bits> {
  using Bits = HalfBits<exponent_bits>;
  using Bits::bits;

  static constexpr int fraction_bits = 15 - exponent_bits;
  static constexpr uint32_t infinity = ((1u << exponent_bits) - 1) << fraction_bits;
  static constexpr int least_exponent = 2 - (1 << (exponent_bits - 1));  ///< of normal numbers, and of subnormal ones

  HalfFloat() = default;
  explicit HalfFloat(double value) : Bits{rounded(value)} {}
  explicit operator double() const {
    const uint64_t sign = static_cast<uint64_t>(bits >> 15) << 63;
    const uint64_t magnitude = bits & 0x7fffu;
    const uint64_t fraction = magnitude & ((1u << fraction_bits) - 1);
    if (magnitude < (1u << fraction_bits)) {
      const double least = double_of(static_cast<uint64_t>(double_bias + least_exponent - fraction_bits) << 52);
      return double_of(sign | bits_of(static_cast<double>(fraction) * least));
    }
    const uint64_t exponent =
        magnitude >= infinity ? 2 * double_bias + 1 : (magnitude >> fraction_bits) - 1 + (double_bias + least_exponent);
    return double_of(sign | exponent << 52 | fraction << (52 - fraction_bits));
  }
  explicit operator float() const { return static_cast<float>(static_cast<double>(*this)); }

 private:
  static constexpr int double_bias = 1023;

  static uint64_t bits_of(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
  }
  static double double_of(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
  }
  static uint16_t rounded(double value) {
    constexpr int dropped = 52 - fraction_bits;
    constexpr uint64_t least_normal = static_cast<uint64_t>(double_bias + least_exponent) << 52;
    constexpr uint64_t normal_exponents = 2 - 2 * least_exponent;
    const uint64_t wide = bits_of(value);
    const uint32_t sign = static_cast<uint32_t>(wide >> 63) << 15;
    const uint64_t magnitude = wide & ~(uint64_t{1} << 63);
    if (magnitude - least_normal < normal_exponents << 52) {
      // What rounding carries counts in the exponent, and after the largest one makes infinity.
      const uint64_t to_even = (uint64_t{1} << (dropped - 1)) - 1 + (magnitude >> dropped & 1);
      const uint64_t beyond_least = (magnitude - least_normal + to_even) >> dropped;
      return static_cast<uint16_t>(sign | static_cast<uint32_t>(beyond_least + (1u << fraction_bits)));
    }
    const uint64_t fraction = wide & ((uint64_t{1} << 52) - 1);
    const int biased = static_cast<int>(magnitude >> 52);
    if (biased == 2 * double_bias + 1 && fraction != 0) {
      return static_cast<uint16_t>(sign | infinity | 1u << (fraction_bits - 1) | fraction >> dropped);
    }
    const int exponent = biased - double_bias;
    if (biased == 0 || exponent < least_exponent - fraction_bits - 1) {
      return static_cast<uint16_t>(sign);  // less than half of the least number
    }
    return static_cast<uint16_t>(sign | (exponent < least_exponent ? subnormal(fraction, exponent) : infinity));
  }
  /// A number less than the least normal one, rounded.
  static uint32_t subnormal(uint64_t fraction, int exponent) {
    const int dropped = 52 - fraction_bits + least_exponent - exponent;
    const uint64_t significand = fraction | uint64_t{1} << 52;
    const uint64_t kept = significand >> dropped;
    const uint64_t rest = significand & ((uint64_t{1} << dropped) - 1);
    const uint64_t half = uint64_t{1} << (dropped - 1);
    return static_cast<uint32_t>(kept + (rest > half || (rest == half && (kept & 1) != 0) ? 1 : 0));
  }
};

using Float16 = HalfFloat<5>;
using BFloat16 = HalfFloat<8>;
static_assert(sizeof(Float16) == 2 && sizeof(BFloat16) == 2, "they are stored as their bits");

}  // namespace esc::transformer
