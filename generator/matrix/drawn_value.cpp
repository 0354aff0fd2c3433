// SPDX-License-Identifier: Apache-2.0
#include "generator/matrix/drawn_value.h"

#include <algorithm>
#include <cmath>

namespace esc {
namespace {

// The smallest and the largest magnitude in units of 2^-24: float32 holds every multiple in between exactly, so no
// rounding can differ between platforms.
constexpr std::uint64_t smallest = 1677722;
constexpr std::uint64_t largest = 16777216;

}  // namespace

std::uint64_t mix_bits(std::uint64_t state) {
  state ^= state >> 30;
  state *= 0xbf58476d1ce4e5b9U;
  state ^= state >> 27;
  state *= 0x94d049bb133111ebU;
  return state ^ (state >> 31);
}

double drawn_value(std::uint64_t seed, std::int64_t row, std::int64_t column, ScalarType element) {
  const std::uint64_t position = (static_cast<std::uint64_t>(row) << 32) | static_cast<std::uint64_t>(column);
  const std::uint64_t bits = mix_bits(mix_bits(seed + 0x9e3779b97f4a7c15U) ^ mix_bits(position + 1));
  // The upper 32 bits scaled to the number of magnitudes; the lowest bit is the sign.
  const std::uint64_t magnitude = smallest + (((bits >> 32) * (largest - smallest + 1)) >> 32);
  if (is_rounded(element)) {
    // Whole numbers over 128 or 1,024 have the digits of the type.
    const double units = element == ScalarType::bf16 ? 0x1p7 : 0x1p10;
    const double kept = std::max(1.0, std::floor(static_cast<double>(magnitude) * 0x1p-24 * units)) / units;
    return (bits & 1) != 0 ? -kept : kept;
  }
  double value = static_cast<double>(magnitude) * 0x1p-24;
  if (element == ScalarType::f64) {
    value -= static_cast<double>(bits >> 8 & 0xffffffU) * 0x1p-48;
  }
  return (bits & 1) != 0 ? -value : value;
}

}  // namespace esc
