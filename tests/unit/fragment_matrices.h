// SPDX-License-Identifier: Apache-2.0
#pragma once

// Matrices to pack into fragments, and whether what they are packed into is what they were.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "tests/unit/fragment_decoder.h"
#include "transformer/fragment_packing.h"
#include "transformer/pack.h"
#include "transformer/unpack.h"

namespace esc::transformer {

/// A matrix with a non-zero, of any finite value, where `is_nonzero(row, column)`.
template <typename IsNonzero>
CsrMatrix matrix_where(std::int64_t rows, std::int64_t columns, const IsNonzero& is_nonzero) {
  CsrMatrix matrix{rows, columns, {0}, {}, {}};
  std::mt19937_64 random(static_cast<std::uint64_t>(rows * 7 + columns));
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < columns; ++column) {
      if (is_nonzero(row, column)) {
        const auto upper = static_cast<std::uint32_t>((random() & 0x8000) | (1 + random() % 0x7000));
        const std::uint32_t bits = upper << 16 | static_cast<std::uint32_t>(random() & 0xffff);
        matrix.column_of.push_back(static_cast<std::int32_t>(column));
        matrix.values.push_back(std::bit_cast<float>(bits));
      }
    }
    matrix.offsets.push_back(std::ssize(matrix.values));
  }
  return matrix;
}

inline CsrMatrix random_elements(std::int64_t rows, std::int64_t columns, double density, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::bernoulli_distribution nonzero(density);
  return matrix_where(rows, columns, [&](std::int64_t, std::int64_t) { return nonzero(random); });
}

inline Places places_of(const CsrMatrix& matrix) {
  Places places;
  for (std::size_t row = 0; row + 1 < matrix.offsets.size(); ++row) {
    for (auto at = static_cast<std::size_t>(matrix.offsets[row]);
         at < static_cast<std::size_t>(matrix.offsets[row + 1]); ++at) {
      places[{static_cast<std::int64_t>(row), matrix.column_of[at]}] =
          std::bit_cast<std::uint32_t>(static_cast<float>(matrix.values[at]));
    }
  }
  return places;
}

inline std::vector<float> dense(const CsrMatrix& matrix) {
  std::vector<float> elements(static_cast<std::size_t>(matrix.rows * matrix.columns), -0.0F);
  for (const auto& [place, bits] : places_of(matrix)) {
    elements[static_cast<std::size_t>(place.first * matrix.columns + place.second)] = std::bit_cast<float>(bits);
  }
  return elements;
}

inline bool packed_serially(const CsrMatrix& matrix, const FragmentFormat& format, void* bytes) {
  const std::vector<float> elements = dense(matrix);
  return pack_serially(DenseRows<float>{elements.data(), matrix.columns, matrix.columns}, format, bytes);
}

/// What is wrong with the packed matrix; empty when nothing is.
inline std::string problem_of(const CsrMatrix& matrix, const FragmentCut& cut) {
  const Packed<FragmentFormat> packed = pack(matrix.view(), cut);
  Decoder decoder(packed);
  const Places found = decoder.decode();
  if (!decoder.problem().empty()) {
    return decoder.problem();
  }
  if (found != places_of(matrix)) {
    return "other non-zeros";
  }
  if (unpack(packed.bytes.span()) != matrix) {
    return "unpacked as another matrix";
  }
  if (std::get<FragmentFormat>(read_format(packed.bytes.span())) != packed.format) {
    return "another format";
  }
  std::vector<std::uint64_t> serial(packed.format.bytes / 8, ~std::uint64_t{0});
  if (!packed_serially(matrix, packed.format, serial.data())) {
    return "not packed serially";
  }
  return std::ranges::equal(std::as_bytes(std::span(serial)), packed.bytes.span()) ? ""
                                                                                   : "other bytes when packed serially";
}

}  // namespace esc::transformer
