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
    const uint64_t wide = bits_of(value);
    const uint32_t sign = static_cast<uint32_t>(wide >> 63) << 15;
    const uint64_t fraction = wide & ((uint64_t{1} << 52) - 1);
    const int biased = static_cast<int>(wide >> 52 & 0x7ff);
    if (biased == 2 * double_bias + 1 && fraction != 0) {
      return static_cast<uint16_t>(sign | infinity | 1u << (fraction_bits - 1) | fraction >> (52 - fraction_bits));
    }
    const int exponent = biased - double_bias;
    if (biased == 0 || exponent < least_exponent - fraction_bits - 1) {
      return static_cast<uint16_t>(sign);  // less than half of the least number
    }
    if (exponent > -least_exponent + 1) {
      return static_cast<uint16_t>(sign | infinity);
    }
    const bool is_normal = exponent >= least_exponent;
    const int dropped = 52 - fraction_bits + (is_normal ? 0 : least_exponent - exponent);
    const uint64_t significand = fraction | uint64_t{1} << 52;
    uint64_t kept = significand >> dropped;
    const uint64_t rest = significand & ((uint64_t{1} << dropped) - 1);
    const uint64_t half = uint64_t{1} << (dropped - 1);
    kept += rest > half || (rest == half && (kept & 1) != 0) ? 1 : 0;
    // The leading one of a normal number, and what rounding carries into it, count in the exponent.
    const uint64_t steps = is_normal ? static_cast<uint64_t>(exponent - least_exponent) : 0;
    return static_cast<uint16_t>(sign | static_cast<uint32_t>((steps << fraction_bits) + kept));
  }
};

using Float16 = HalfFloat<5>;
using BFloat16 = HalfFloat<8>;
static_assert(sizeof(Float16) == 2 && sizeof(BFloat16) == 2, "they are stored as their bits");

}  // namespace esc::transformer
