// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

// Operands for the kernel of tests/device/warpgroup_instructions.cuh, and what must come of them by a plain computation
// on matrices. Depends on nothing, so that nvcc compiles it, too.

namespace esc::testing {

inline constexpr int kChainSteps = 4;
inline constexpr int kStepElements = 512;     ///< of A and of B
inline constexpr int kSumElements = 64 * 64;  ///< of D, for each warpgroup

/// Small integers, whose sums are exact on every machine, or numbers in [-1, 1] with all bits of a float.
inline std::vector<float> draw_chain(int groups, bool integers, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<float> x(static_cast<std::size_t>((groups + 1) * kChainSteps * kStepElements));
  for (float& value : x) {
    value = integers ? static_cast<float>(random() % 9) - 4.f
                     : static_cast<float>(random() % (1u << 24)) / static_cast<float>(1 << 23) - 1.f;
  }
  return x;
}

/// An element of D, and the magnitudes of all that is added.
struct ChainedSum {
  float sum = 0;
  double magnitude = 0;
};

/// The lower 13 bits of a factor do not count.
inline double rounded_to_zero(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  bits &= 0xffffe000u;
  std::memcpy(&value, &bits, sizeof(bits));
  return static_cast<double>(value);
}

/// Element `at` of y. The products of a step are added to the sum of those before and rounded once.
inline ChainedSum chained_sum(const std::vector<float>& x, int groups, int at) {
  const int group = at / kSumElements;
  const int row = at / 64 % 64;
  const int column = at % 64;
  ChainedSum chain;
  for (int step = 0; step < kChainSteps; ++step) {
    const float* const a = x.data() + (group * kChainSteps + step) * kStepElements + 8 * row;
    const float* const b = x.data() + (groups * kChainSteps + step) * kStepElements + column;
    double exact = static_cast<double>(chain.sum);
    for (int k = 0; k < 8; ++k) {
      const double product = rounded_to_zero(a[k]) * rounded_to_zero(b[64 * k]);
      exact += product;
      chain.magnitude += std::abs(product);
    }
    chain.sum = static_cast<float>(exact);
  }
  return chain;
}

}  // namespace esc::testing
