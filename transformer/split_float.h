// SPDX-License-Identifier: Apache-2.0
#pragma once

// A float32 as two numbers of 16 bits. As in packed_bytes.h, the text between the markers is part of every generated
// transformer of a matrix that is packed so.

#include "transformer/packed_bytes.h"

namespace esc::transformer {
// [packing text begins]

// ---------------------------------------------------------------------------------------------------------------------
// Halves, which the tensor core multiplies at twice the rate of TF32. A float32 of a unit is scaled by a power of two and
// stored as the nearest half and 2048 times the rest, rounded to a half, too. Scaled so that the greatest one is 2^14 to
// 2^15, numbers down to 2^-13 lose no more than 2^-23 of themselves, smaller ones no more than 2^-36; one that would be
// zero is 2^-35.
// ---------------------------------------------------------------------------------------------------------------------

/// A number of 16 bits: 5 of exponent and 10 of fraction.
struct HalfNumber {
  uint32_t bits;

  /// Of two that are as near it is the even one; above the largest it is infinity.
  static HalfNumber nearest(float number) {
    constexpr uint32_t infinity = 0x7f800000u, least_normal = 0x38800000u, behind_largest = 0x477ff000u, one_half = 0x3f000000u;
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    const uint32_t sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
    if (magnitude >= behind_largest) {
      return {sign | (magnitude > infinity ? 0x7e00u : 0x7c00u)};
    }
    if (magnitude < least_normal) {
      // What a float behind one half counts by is the least half.
      float shifted;
      memcpy(&shifted, &magnitude, sizeof shifted);
      shifted += 0.5f;
      memcpy(&bits, &shifted, sizeof bits);
      return {sign | (bits - one_half)};
    }
    constexpr uint32_t exponents_apart = 112u << 23;
    return {sign | (magnitude + 0xfffu + (magnitude >> 13 & 1) - exponents_apart) >> 13};
  }
  bool is_finite() const { return (bits & 0x7c00u) != 0x7c00u; }
  float value() const {
    const uint32_t exponent = bits >> 10 & 0x1fu, fraction = bits & 0x3ffu;
    constexpr float least = 1.0f / (1 << 24);
    uint32_t wide = (exponent == 0x1fu ? 0xffu : exponent + 112u) << 23 | fraction << 13;
    float magnitude;
    memcpy(&magnitude, &wide, sizeof magnitude);
    magnitude = exponent == 0 ? static_cast<float>(fraction) * least : magnitude;
    return (bits & 0x8000u) != 0 ? -magnitude : magnitude;
  }
};

/// A power of two of a normal float with this exponent, as a float has it.
inline float power_of_two_with(uint32_t exponent) {
  const uint32_t bits = exponent << 23;
  float power;
  memcpy(&power, &bits, sizeof power);
  return power;
}

/// The two halves of the floats of a unit, of which the greatest finite one has this exponent, `least_exponent` at least.
struct SplitFloats {
  uint32_t exponent;

  static constexpr uint32_t sum_of_exponents = 268;  ///< of what is scaled and what it is scaled by: the product begins at 2^14

  double value(uint32_t halves) const {
    const HalfNumber leading{halves & 0xffffu}, rest{halves >> 16};
    return (leading.value() + rest.value() / 2048.0) / power_of_two_with(sum_of_exponents - exponent);
  }
  /// Both halves, the leading one in the lower bits. A number that is none of these has the bits of the nearest one, which
  /// has them, too; none but zero has the bits of zero.
  uint32_t bits(float number) const {
    uint32_t found = nearest(number);
    for (int again = 0; again < 2 && HalfNumber{found & 0xffffu}.is_finite(); ++again) {
      found = nearest(static_cast<float>(value(found)));
    }
    constexpr uint32_t least_rest = 1u << 16;
    return (found & 0x7fff7fffu) == 0 && number != 0 ? (number < 0 ? 0x80008000u : 0u) | least_rest : found;
  }

 private:
  uint32_t nearest(float number) const {
    const float scaled = number * power_of_two_with(sum_of_exponents - exponent);
    const HalfNumber leading = HalfNumber::nearest(scaled);
    const uint32_t rest = leading.is_finite() ? HalfNumber::nearest((scaled - leading.value()) * 2048).bits : 0;
    return leading.bits | rest << 16;
  }
};

// [packing text ends]
}  // namespace esc::transformer
