// SPDX-License-Identifier: Apache-2.0
#include "generator/verify/placed_matrix.h"

#include <cstring>

namespace esc {
namespace {

/// Addresses of deployments are divisible by this, as cudaMalloc's are.
constexpr std::size_t allocation_alignment = 256;

/// On both sides of a matrix nothing is near, so that an index far outside does not land in another one.
constexpr std::size_t gap_bytes = std::size_t{64} << 20;

/// So many elements after the columns of a row are looked at; a gap of more is for rows that are far apart.
constexpr std::size_t watched_gap = 64;

/// The numbers of the rows for which it is set, or of all.
std::vector<std::int64_t> numbers_of(std::int64_t rows, const std::vector<bool>& chosen) {
  std::vector<std::int64_t> numbers;
  for (std::int64_t row = 0; row < rows; ++row) {
    if (chosen.empty() || chosen[static_cast<std::size_t>(row)]) {
      numbers.push_back(row);
    }
  }
  return numbers;
}

}  // namespace

PlacedMatrix::PlacedMatrix(const MatrixExtents& extents, std::int64_t leading_dimension, int shift, ScalarType type,
                           const std::vector<bool>& visited)
    : layout_(extents.layout),
      outermost_(layout_.outermost_extent(extents.rows, extents.items)),
      visited_(numbers_of(extents.rows, visited)),
      element_(static_cast<std::size_t>(bytes_of(type))),
      inner_(static_cast<std::size_t>(layout_.least_leading_dimension(extents.items))),
      leading_dimension_(static_cast<std::size_t>(leading_dimension)),
      gap_(std::min(leading_dimension_ - inner_, watched_gap)),
      offset_(static_cast<std::size_t>(shift) * element_),
      memory_(offset_ + bytes(), gap_bytes) {}

std::vector<PlacedMatrix::IndexRange> PlacedMatrix::visited_indices(const KernelCall& call) const {
  std::vector<IndexRange> indices;
  if (layout_.is_row_major()) {
    for (const std::int64_t row : visited_) {
      indices.push_back({row, row + 1});
    }
  } else if (layout_.runs_over_items()) {
    const std::int64_t item = layout_.columns_of_item();
    for (const ColumnRange& range : call.compared()) {
      indices.push_back({range.first / item, (range.first + range.count - 1) / item + 1});
    }
  } else {
    indices.push_back({0, outermost_});
  }
  return indices;
}

PlacedBytes::PlacedBytes(std::span<const std::byte> bytes, std::int64_t shift)
    // An odd multiple of the alignment, for no kernel may rely on more.
    : offset_(allocation_alignment + static_cast<std::size_t>(shift)),
      memory_(offset_ + bytes.size(), gap_bytes),
      size_(bytes.size()) {
  std::memcpy(memory_.data() + offset_, bytes.data(), bytes.size());
}

}  // namespace esc
