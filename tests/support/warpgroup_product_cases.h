// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "tests/support/matrix_instruction_cases.h"

// Operands for the kernels of tests/device/warpgroup_instructions.cuh and warpgroup_tiles.cuh, and what must come of
// them by a plain computation on matrices. Depends on nothing else, so that nvcc compiles it, too.

namespace esc::testing {

inline constexpr int kChainSteps = 4;
inline constexpr int kStepWords = 512;        ///< of A and of B
inline constexpr int kSumElements = 64 * 64;  ///< of D, for each warpgroup

/// What the words of A and of B are: numbers, or two of float16 or bfloat16, one after the other along k.
enum class ChainFactors { tensor_float32, float16, bfloat16 };

/// Small integers, whose sums are exact on every machine; numbers within [-2, 2] with all bits of a float or of
/// float16, there also subnormal ones; or, of float16, small integers times an A that is subnormal, whose sums are
/// exact as well.
enum class ChainValues { integers, fractions, subnormals };

inline constexpr double kSmallestHalf = 0x1p-24;

inline std::uint32_t draw_half(ChainValues values, bool of_a, std::mt19937& random) {
  constexpr std::uint32_t kBelowTwo = 0xbfff;
  const auto bits = static_cast<std::uint32_t>(random());
  const double integer = static_cast<double>(bits % 9) - 4.0;
  return values == ChainValues::fractions
             ? bits >> 16 & kBelowTwo
             : pattern_of(0, values == ChainValues::subnormals && of_a ? integer * kSmallestHalf : integer);
}

inline float draw_number(ChainValues values, std::mt19937& random) {
  return values == ChainValues::integers
             ? static_cast<float>(random() % 9) - 4.f
             : static_cast<float>(random() % (1u << 24)) / static_cast<float>(1 << 23) - 1.f;
}

/// As words. All that is A's comes first.
inline std::vector<std::uint32_t> draw_chain(int groups, ChainFactors factors, ChainValues values, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::uint32_t> x(static_cast<std::size_t>((groups + 1) * kChainSteps * kStepWords));
  const auto words_of_a = static_cast<std::size_t>(groups * kChainSteps * kStepWords);
  for (std::size_t at = 0; at < x.size(); ++at) {
    if (factors == ChainFactors::float16) {
      const std::uint32_t lower = draw_half(values, at < words_of_a, random);
      x[at] = lower | draw_half(values, at < words_of_a, random) << 16;
    } else {
      x[at] = bits_of(draw_number(values, random));
    }
  }
  return x;
}

/// An element of D, and the magnitudes of all that is added.
struct ChainedSum {
  float sum = 0;
  double magnitude = 0;
};

/// Of a word the number, without its lower 13 bits, which do not count; or one of two halves, the first one first. All
/// are finite.
inline double factor_of(ChainFactors factors, std::uint32_t word, int part) {
  if (factors == ChainFactors::tensor_float32) {
    const std::uint32_t bits = word & 0xffffe000u;
    float value = 0;
    std::memcpy(&value, &bits, sizeof(value));
    return static_cast<double>(value);
  }
  if (factors == ChainFactors::bfloat16) {
    const std::uint32_t bits = word >> 16 * part << 16;
    float value = 0;
    std::memcpy(&value, &bits, sizeof(value));
    return static_cast<double>(value);
  }
  const std::uint32_t half = word >> 16 * part & 0xffffu;
  const int exponent = static_cast<int>(half >> 10 & 31);
  const auto mantissa = static_cast<double>(half & 0x3ff);
  const double magnitude = exponent == 0 ? mantissa * kSmallestHalf : std::ldexp(mantissa + 1024, exponent - 25);
  return (half & 0x8000) != 0 ? -magnitude : magnitude;
}

/// Element `at` of y. The products of a step are added to the sum of those before and rounded once.
inline ChainedSum chained_sum(const std::vector<std::uint32_t>& x, int groups, ChainFactors factors, int at) {
  const int group = at / kSumElements;
  const int row = at / 64 % 64;
  const int column = at % 64;
  const int parts = factors == ChainFactors::float16 ? 2 : 1;
  ChainedSum chain;
  for (int step = 0; step < kChainSteps; ++step) {
    const std::uint32_t* const a = x.data() + (group * kChainSteps + step) * kStepWords + 8 * row;
    const std::uint32_t* const b = x.data() + (groups * kChainSteps + step) * kStepWords + column;
    double exact = static_cast<double>(chain.sum);
    for (int k = 0; k < 8 * parts; ++k) {
      const double product =
          factor_of(factors, a[k / parts], k % parts) * factor_of(factors, b[64 * (k / parts)], k % parts);
      exact += product;
      chain.magnitude += std::abs(product);
    }
    chain.sum = static_cast<float>(exact);
  }
  return chain;
}

inline constexpr int kTileWords = 32;  ///< of a row of A and of a column of B: 128 bytes
inline constexpr int kMostTileColumns = 256;

/// From 64 columns of a tile to the next, and from eight lines to the next.
struct TileDistances {
  unsigned leading;
  unsigned stride;
};

/// Right ones: one after the other, the other way round, and with gaps. Where lines are of columns, and where all
/// columns are in one line, the first one is without meaning.
inline std::vector<TileDistances> tile_distances(int columns, bool transposed) {
  const auto around = static_cast<unsigned>(columns / 64 * 1024);
  return transposed && columns == 32 ? std::vector<TileDistances>{{4096, 512}, {512, 1536}}
         : transposed ? std::vector<TileDistances>{{8192, 1024}, {1024, around}, {9216, 1024}, {1024, around + 1024}}
                      : std::vector<TileDistances>{{16, 1024}, {0, 2048}};
}

inline unsigned tile_bytes(int columns, bool transposed, TileDistances distances) {
  const auto many = static_cast<unsigned>(columns);
  return transposed ? (many < 64 ? 0 : many / 64 - 1) * distances.leading + 7 * distances.stride + 1024
                    : (many / 8 - 1) * distances.stride + 1024;
}

/// Operands of multiply_tile, as words. All that is A's comes first: integers or fractions.
inline std::vector<std::uint32_t> draw_tile(int groups, int columns, ChainFactors factors, ChainValues values,
                                            std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::uint32_t> x(static_cast<std::size_t>((64 * groups + columns) * kTileWords));
  const MatrixValues drawn = values == ChainValues::integers ? MatrixValues::integers : MatrixValues::fractions;
  const int type = factors == ChainFactors::bfloat16 ? 1 : 0;
  for (std::uint32_t& word : x) {
    if (factors == ChainFactors::tensor_float32) {
      word = bits_of(draw_number(values, random));
    } else {
      word = pattern_of(type, draw_value(type, drawn, random));
      word |= pattern_of(type, draw_value(type, drawn, random)) << 16;
    }
  }
  return x;
}

/// Element `at` of what multiply_tile writes.
inline ChainedSum tile_sum(const std::vector<std::uint32_t>& x, int groups, int columns, ChainFactors factors, int at) {
  const int row = at / columns;
  const int column = at % columns;
  const int parts = factors == ChainFactors::tensor_float32 ? 1 : 2;
  const std::uint32_t* const a = x.data() + row * kTileWords;
  const std::uint32_t* const b = x.data() + 64 * groups * kTileWords + column;
  ChainedSum tile;
  for (int step = 0; step < kTileWords; step += 8) {
    double exact = static_cast<double>(tile.sum);
    for (int k = step * parts; k < (step + 8) * parts; ++k) {
      const double product =
          factor_of(factors, a[k / parts], k % parts) * factor_of(factors, b[columns * (k / parts)], k % parts);
      exact += product;
      tile.magnitude += std::abs(product);
    }
    tile.sum = static_cast<float>(exact);
  }
  return tile;
}

}  // namespace esc::testing
