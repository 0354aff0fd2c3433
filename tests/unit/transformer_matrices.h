// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <vector>

#include "transformer/half_floats.h"
#include "transformer/row_tile_sources.h"
#include "transformer/unpack.h"

namespace esc::transformer {

/// A dense matrix with its own storage; row i starts at i * lda.
struct DenseMatrix {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<float> values;
  std::int64_t lda = columns;

  float& at(std::int64_t row, std::int64_t column) { return values[static_cast<std::size_t>(row * lda + column)]; }
  float at(std::int64_t row, std::int64_t column) const { return values[static_cast<std::size_t>(row * lda + column)]; }
  DenseRows<float> source() const { return {values.data(), lda, columns}; }
};

/// Independent entries, non-zero with probability `density`; some rows are emptied and some filled. The values are all
/// different, and what lies between the end of a row and the next is not zero.
inline DenseMatrix random_matrix(std::int64_t rows, std::int64_t columns, double density, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const std::int64_t lda = columns + static_cast<std::int64_t>(random() % 3);
  DenseMatrix matrix{rows, columns, std::vector<float>(static_cast<std::size_t>(rows * lda), -1.0f), lda};
  float next = 1.0f;
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::uint64_t kind = random() % 8;
    std::bernoulli_distribution nonzero(kind == 0 ? 0.0 : kind == 1 && density > 0 ? 1.0 : density);
    for (std::int64_t k = 0; k < columns; ++k) {
      matrix.at(i, k) = nonzero(random) ? next++ : random() % 2 == 0 ? 0.0f : -0.0f;
    }
  }
  return matrix;
}

/// The matrix in CSR form; with `stored_zeros` every third zero is stored.
inline CsrMatrix to_csr(const DenseMatrix& matrix, bool stored_zeros = false) {
  CsrMatrix csr{matrix.rows, matrix.columns, {0}, {}, {}};
  for (std::int64_t i = 0; i < matrix.rows; ++i) {
    for (std::int64_t k = 0; k < matrix.columns; ++k) {
      if (matrix.at(i, k) != 0.0f || (stored_zeros && (i + k) % 3 == 0)) {
        csr.column_of.push_back(static_cast<std::int32_t>(k));
        csr.values.push_back(matrix.at(i, k));
      }
    }
    csr.offsets.push_back(std::ssize(csr.column_of));
  }
  return csr;
}

template <typename Half>
inline constexpr ScalarType half_type = std::is_same_v<Half, Float16> ? ScalarType::f16 : ScalarType::bf16;

/// The matrix with elements of a 16-bit type, which cannot all be different: the numbers from 1 to 2,000, rounded.
inline CsrMatrix in_halves(CsrMatrix matrix, ScalarType element) {
  matrix.element = element;
  for (double& value : matrix.values) {
    const double small = value == 0 ? 0 : std::fmod(value - 1, 2000) + 1;
    value = element == ScalarType::f16 ? static_cast<double>(Float16(small)) : static_cast<double>(BFloat16(small));
  }
  return matrix;
}

/// Packed bytes that can be changed, with checksums that match again. `seal_header` makes the header's own match,
/// `seal` that of the payload too.
class ChangeableBytes {
 public:
  explicit ChangeableBytes(std::span<const std::byte> packed) : bytes_(packed.begin(), packed.end()) {}

  std::vector<std::byte>& bytes() { return bytes_; }
  const std::vector<std::byte>& bytes() const { return bytes_; }
  template <typename Value>
  ChangeableBytes& put(std::size_t at, Value value) {
    std::memcpy(bytes_.data() + at, &value, sizeof value);
    return *this;
  }
  /// Sets the number of the description that is there.
  ChangeableBytes& put_number(std::size_t position, std::uint64_t value) {
    return put(offsetof(Header, numbers) + 8 * position, value);
  }
  ChangeableBytes& seal_header() {
    return put(offsetof(Header, header_checksum), checksum(bytes_.data(), offsetof(Header, header_checksum)));
  }
  ChangeableBytes& seal() {
    put(offsetof(Header, payload_checksum), checksum(bytes_.data() + header_bytes, bytes_.size() - header_bytes));
    return seal_header();
  }

 private:
  std::vector<std::byte> bytes_;
};

/// Where the first number of this name is in the header.
template <typename Format>
std::size_t position_of(Format format, std::string_view name) {
  std::size_t position = 0;
  std::size_t next = 0;
  bool found = false;
  format.visit([&](const char* own, const auto&, const Rule&) {
    position = !found && own == name ? next : position;
    found = found || own == name;
    ++next;
  });
  return found ? position : throw std::out_of_range("the description has no such number");
}

/// What a packed matrix means, computed from the definition of the format alone.
struct PlainLists {
  std::vector<std::uint64_t> row_tiles, patterns, rpp, npp, cols;
  std::vector<float> annz;

  bool operator==(const PlainLists&) const = default;
};

inline PlainLists plain_lists(const DenseMatrix& matrix, std::int64_t height, std::size_t max_list_columns) {
  PlainLists lists;
  for (std::int64_t row_tile = 0; row_tile * height < matrix.rows; ++row_tile) {
    for (std::uint64_t pattern = 1; pattern < std::uint64_t{1} << height; ++pattern) {
      std::size_t length = 0;
      for (std::int64_t k = 0; k < matrix.columns; ++k) {
        std::uint64_t mask = 0;
        std::vector<float> values;
        for (std::int64_t i = row_tile * height; i < std::min(matrix.rows, (row_tile + 1) * height); ++i) {
          if (matrix.at(i, k) != 0.0f) {
            mask |= std::uint64_t{1} << (i - row_tile * height);
            values.push_back(matrix.at(i, k));
          }
        }
        if (mask != pattern) {
          continue;
        }
        if (length++ % max_list_columns == 0) {
          lists.row_tiles.push_back(static_cast<std::uint64_t>(row_tile));
          lists.patterns.push_back(pattern);
          lists.rpp.push_back(lists.cols.size());
          lists.npp.push_back(lists.annz.size());
        }
        lists.cols.push_back(static_cast<std::uint64_t>(k));
        lists.annz.insert(lists.annz.end(), values.begin(), values.end());
      }
    }
  }
  lists.rpp.push_back(lists.cols.size());
  lists.npp.push_back(lists.annz.size());
  return lists;
}

}  // namespace esc::transformer
