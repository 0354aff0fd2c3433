// SPDX-License-Identifier: Apache-2.0
#include "generator/emulate/matrix_fragments.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace esc {
namespace {

// The fragments of mma, as the PTX ISA lays them out: lane l stands for row l / 4 (of A and C) or column l / 4 (of B),
// and has a part of it that l % 4 says. `per_register` elements lie in a register: two, or one of tf32.

constexpr std::uint32_t kRows = 16;
constexpr std::uint32_t kColumns = 8;
/// Indices of metadata in one lane's part of a row.
constexpr std::uint32_t kIndexBitsPerLane = 16;

std::uint32_t per_register(const MatrixProduct& product) {
  return product.element == MatrixProduct::Element::tensor_float32 ? 1 : 2;
}

/// Elements of a row of A as it is stored.
std::uint32_t stored_columns(const MatrixProduct& product) { return 8 * per_register(product); }

double element_of(const MatrixProduct& product, std::uint32_t bits) {
  constexpr std::uint32_t kTensorFloatBits = 0xffffe000;
  constexpr int kHalfMantissa = 10;
  constexpr int kHalfLowestExponent = -14;
  switch (product.element) {
    case MatrixProduct::Element::tensor_float32:
      return std::bit_cast<float>(bits & kTensorFloatBits);
    case MatrixProduct::Element::bfloat16:
      return std::bit_cast<float>(bits << 16);
    case MatrixProduct::Element::float16:
      break;
  }
  const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
  const std::uint32_t exponent = bits >> kHalfMantissa & 31;
  const std::uint32_t mantissa = bits & 0x3ff;
  if (exponent == 31) {
    return mantissa != 0 ? std::nan("") : sign * HUGE_VAL;
  }
  const std::uint32_t whole = exponent == 0 ? mantissa : mantissa | 0x400;
  return sign *
         std::ldexp(whole, static_cast<int>(exponent == 0 ? 1 : exponent) - 1 + kHalfLowestExponent - kHalfMantissa);
}

/// Element `part` of a register.
double element_at(const MatrixProduct& product, std::uint32_t bits, std::uint32_t part) {
  return element_of(product, per_register(product) == 1 ? bits : bits >> 16 * part & 0xffff);
}

double element_of_a(const MatrixProduct& product, const std::array<ProductFragments*, kLanes>& lanes, std::uint32_t row,
                    std::uint32_t stored) {
  const std::uint32_t in_register = per_register(product);
  const std::uint32_t quarter = stored / in_register % 4;
  const std::uint32_t which = 2 * (stored / (4 * in_register)) + row / 8;
  return element_at(product, lanes[4 * (row % 8) + quarter]->a[which], stored % in_register);
}

double element_of_b(const MatrixProduct& product, const std::array<ProductFragments*, kLanes>& lanes, std::uint32_t k,
                    std::uint32_t column) {
  const std::uint32_t in_register = per_register(product);
  return element_at(product, lanes[4 * column + k / in_register % 4]->b[k / (4 * in_register)], k % in_register);
}

/// The four bits of metadata of a group, and the lane that has them: of the two lanes the first has the first half of
/// each row; the lower half of its bits is of row l / 4, the upper of row l / 4 + 8.
BadMetadata metadata_of(const MatrixProduct& product, const std::array<ProductFragments*, kLanes>& lanes,
                        std::uint32_t row, std::uint32_t group) {
  const std::uint32_t lane = 4 * (row % 8) + 2 * product.selector + group / 4;
  const std::uint32_t shift = kIndexBitsPerLane * (row / 8) + 4 * (group % 4);
  return {lane, row, group, lanes[lane]->metadata >> shift & 15};
}

constexpr std::uint32_t kGroups = 8;

/// Which element of a row of A the stored one is.
std::uint32_t column_of(const MatrixProduct& product, const std::array<ProductFragments*, kLanes>& lanes,
                        std::uint32_t row, std::uint32_t stored) {
  if (!product.sparse) {
    return stored;
  }
  const std::uint32_t in_group = per_register(product);
  const std::uint32_t group = stored / in_group;
  const std::uint32_t bits = metadata_of(product, lanes, row, group).bits;
  return 2 * in_group * group + (in_group == 1 ? bits >> 3 : bits >> 2 * (stored % in_group) & 3);
}

bool has_meaning(const MatrixProduct& product, std::uint32_t bits) {
  if (product.element == MatrixProduct::Element::tensor_float32) {
    return bits == 0b0100 || bits == 0b1110;
  }
  const std::uint32_t first = bits & 3;
  const std::uint32_t second = bits >> 2;
  return product.ordered ? first < second : first != second;
}

}  // namespace

void load_matrices(const std::array<MatrixLoad*, kLanes>& lanes, std::uint32_t matrices, bool transposed) {
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    MatrixLoad& mine = *lanes[lane];
    for (std::uint32_t matrix = 0; matrix < matrices; ++matrix) {
      for (std::uint32_t part = 0; part < 2; ++part) {
        const std::uint32_t fast = 2 * (lane % 4) + part;
        const std::uint32_t row = transposed ? fast : lane / 4;
        const std::uint32_t column = transposed ? lane / 4 : fast;
        const std::uint64_t source = lanes[8 * matrix + row]->row + 2 * column;
        std::uint16_t element = 0;
        std::memcpy(&element, reinterpret_cast<const void*>(source), sizeof(element));
        mine.registers[matrix] = part == 0 ? element : mine.registers[matrix] | std::uint32_t{element} << 16;
        mine.sources[2 * matrix + part] = source;
      }
    }
  }
}

void transpose_matrix(const std::array<std::uint32_t*, kLanes>& lanes) {
  std::array<std::uint32_t, kLanes> given{};
  std::ranges::transform(lanes, given.begin(), [](const std::uint32_t* lane) { return *lane; });
  const auto element = [&](std::uint32_t row, std::uint32_t column) {
    return given[4 * row + column / 2] >> 16 * (column % 2) & 0xffff;
  };
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    const std::uint32_t row = 2 * (lane % 4);
    *lanes[lane] = element(row, lane / 4) | element(row + 1, lane / 4) << 16;
  }
}

std::uint32_t MatrixProduct::number() const {
  return static_cast<std::uint32_t>(element) | selector << 2 | (ordered ? 8u : 0u) | (sparse ? 16u : 0u) |
         (transposed ? 32u : 0u);
}

MatrixProduct MatrixProduct::of(std::uint32_t number) {
  return {static_cast<Element>(number & 3), (number & 16) != 0, (number & 8) != 0, number >> 2 & 1, (number & 32) != 0};
}

std::optional<BadMetadata> find_bad_metadata(const MatrixProduct& product,
                                             const std::array<ProductFragments*, kLanes>& lanes) {
  for (std::uint32_t row = 0; product.sparse && row < kRows; ++row) {
    for (std::uint32_t group = 0; group < kGroups; ++group) {
      const BadMetadata found = metadata_of(product, lanes, row, group);
      if (!has_meaning(product, found.bits)) {
        return found;
      }
    }
  }
  return std::nullopt;
}

void multiply_matrices(const MatrixProduct& product, const std::array<ProductFragments*, kLanes>& lanes) {
  constexpr std::uint32_t kMostDepth = 32;
  std::array<std::array<double, kColumns>, kMostDepth> b{};
  const std::uint32_t depth = (product.sparse ? 2 : 1) * stored_columns(product);
  for (std::uint32_t k = 0; k < depth; ++k) {
    for (std::uint32_t column = 0; column < kColumns; ++column) {
      b[k][column] = element_of_b(product, lanes, k, column);
    }
  }
  for (std::uint32_t row = 0; row < kRows; ++row) {
    std::array<double, kColumns> sums{};
    const auto sum_of = [&](std::uint32_t column) -> float& {
      return lanes[4 * (row % 8) + column / 2]->sums[2 * (row / 8) + column % 2];
    };
    for (std::uint32_t column = 0; column < kColumns; ++column) {
      sums[column] = static_cast<double>(sum_of(column));
    }
    for (std::uint32_t stored = 0; stored < stored_columns(product); ++stored) {
      const double a = element_of_a(product, lanes, row, stored);
      const auto& row_of_b = b[column_of(product, lanes, row, stored)];
      for (std::uint32_t column = 0; column < kColumns; ++column) {
        sums[column] += a * row_of_b[column];
      }
    }
    for (std::uint32_t column = 0; column < kColumns; ++column) {
      sum_of(column) = std::isnan(sums[column]) ? std::bit_cast<float>(0x7fffffffu) : static_cast<float>(sums[column]);
    }
  }
}

}  // namespace esc
