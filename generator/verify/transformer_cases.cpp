// SPDX-License-Identifier: Apache-2.0
#include "generator/verify/transformer_cases.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <random>
#include <variant>

#include "transformer/pattern_check.h"
#include "transformer/unpack.h"

namespace esc {
namespace {

constexpr std::int64_t farthest_gap_of_lda = 512;

}  // namespace

CsrArrays with_stored_zeros(const SparseMatrix& matrix) {
  CsrArrays arrays{{0}, {}, {}};
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    std::int64_t free = 0;  // the lowest column without an entry, as far as it is known
    std::int64_t stored = 0;
    const auto store_before = [&](std::int64_t column) {
      for (; free < column && stored < most_stored_zeros; ++free, ++stored) {
        arrays.columns.push_back(static_cast<std::int32_t>(free));
        arrays.values.push_back((row + stored) % 2 == 0 ? 0.0 : -0.0);
      }
      free = column + 1;
    };
    for (std::int64_t entry = matrix.offsets[static_cast<std::size_t>(row)];
         entry < matrix.offsets[static_cast<std::size_t>(row) + 1]; ++entry) {
      const auto at = static_cast<std::size_t>(entry);
      store_before(matrix.column_of[at]);
      arrays.columns.push_back(matrix.column_of[at]);
      arrays.values.push_back(matrix.values[at]);
    }
    store_before(matrix.columns);
    arrays.offsets.push_back(static_cast<std::int32_t>(arrays.columns.size()));
  }
  return arrays;
}

std::vector<MovableNonzero> movable_nonzeros(const SparseMatrix& matrix, std::int64_t first_row,
                                             std::int64_t behind_row) {
  std::vector<MovableNonzero> movable;
  for (std::int64_t row = first_row; row < behind_row; ++row) {
    const std::int64_t last = matrix.offsets[static_cast<std::size_t>(row) + 1];
    for (std::int64_t entry = matrix.offsets[static_cast<std::size_t>(row)]; entry < last; ++entry) {
      const auto at = static_cast<std::size_t>(entry);
      const std::int64_t next = entry + 1 < last ? matrix.column_of[at + 1] : matrix.columns;
      if (matrix.column_of[at] + 1 < next) {
        movable.push_back({at, row});
      }
    }
  }
  return movable;
}

std::vector<RowRange> pattern_groups_of(std::span<const std::byte> packed) {
  std::vector<RowRange> groups;
  try {
    std::visit(
        [&](const auto& format) {
          const auto& shape = format.shape;
          const std::int64_t row_tiles = transformer::row_tiles_per_group(shape);
          for (std::int64_t group = 0; group < transformer::pattern_groups(shape); ++group) {
            const std::int64_t behind =
                (group + 1) * row_tiles < shape.row_tiles() ? shape.first_row((group + 1) * row_tiles) : shape.rows;
            groups.push_back({shape.first_row(group * row_tiles), behind});
          }
        },
        transformer::read_format(packed));
  } catch (const transformer::FormatError&) {
    groups.clear();  // which are not those of the packed file either
  }
  return groups;
}

std::vector<std::int64_t> further_lda(const SparseMatrix& matrix, Breadth breadth, std::uint64_t seed) {
  constexpr std::int64_t few_elements = 1 << 16;
  if (breadth == Breadth::generated || matrix.rows * matrix.columns > few_elements) {
    return {};
  }
  std::mt19937_64 random(seed);
  const auto drawn = [&] { return matrix.columns + 1 + static_cast<std::int64_t>(random() % farthest_gap_of_lda); };
  std::vector<std::int64_t> distances{
      static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(matrix.columns) + 1)), drawn(), drawn()};
  for (std::int64_t usual = 64; usual <= farthest_gap_of_lda; usual *= 2) {
    const std::int64_t lda = (matrix.columns + usual - 1) / usual * usual;
    if (std::ranges::find(distances, lda) == distances.end()) {
      distances.push_back(lda);
    }
  }
  return distances;
}

std::vector<std::size_t> damaged_bytes(std::size_t bytes, Breadth breadth) {
  constexpr std::size_t header = 256;
  constexpr std::size_t small = 1 << 20;
  std::vector<std::size_t> places{0, 32, header, bytes - 1};
  if (breadth == Breadth::generated) {
    return places;
  }
  for (std::size_t at = 0; bytes <= small && at < header; ++at) {
    places.push_back(at);
  }
  constexpr std::size_t parts = 16;
  for (std::size_t number = 1; number < parts; ++number) {
    places.push_back(header + (bytes - header) * number / parts);
  }
  return places;
}

SparseMatrix with_infinite_values(SparseMatrix matrix, std::uint64_t seed) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  std::mt19937_64 random(seed);
  for (double& value : matrix.values) {
    const std::uint64_t kind = random() % 8;
    value = kind == 0 ? infinity : kind == 1 ? -infinity : kind == 2 ? std::numeric_limits<double>::quiet_NaN() : value;
  }
  return matrix;
}

std::int64_t largest_lda(std::int64_t columns) {
  return std::max<std::int64_t>(static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(columns) + 1)),
                                columns + farthest_gap_of_lda);
}

}  // namespace esc
