// SPDX-License-Identifier: Apache-2.0
#pragma once

// Digests of the pattern of A. As in packed_bytes.h, the text between the markers is part of every generated
// transformer.

#include "transformer/packed_bytes.h"
#include "transformer/row_tile_sources.h"

namespace esc::transformer {
// [packing text begins]

// ---------------------------------------------------------------------------------------------------------------------
// Pattern digests: what a transformer remembers of the pattern that its kernel was made for. Row tiles are taken in
// groups of equally many, at most 1,024 groups, and each group has a hash over its (column, mask) pairs in order and
// its number of non-zeros. A shape says how many rows and row tiles there are. Values do not matter, except that a zero
// is not a non-zero.
// ---------------------------------------------------------------------------------------------------------------------

inline constexpr int64_t max_pattern_groups = 1024;

struct PatternDigest {
  uint64_t hash = 0;
  uint64_t nonzeros = 0;
};

constexpr bool operator==(const PatternDigest& a, const PatternDigest& b) {
  return a.hash == b.hash && a.nonzeros == b.nonzeros;
}

template <typename Shape>
constexpr int64_t row_tiles_per_group(const Shape& shape) {
  return (shape.row_tiles() + max_pattern_groups - 1) / max_pattern_groups;
}

template <typename Shape>
constexpr int64_t pattern_groups(const Shape& shape) {
  return (shape.row_tiles() + row_tiles_per_group(shape) - 1) / row_tiles_per_group(shape);
}

template <typename Source, typename Shape>
PatternDigest digest_group(const Source& source, const Shape& shape, int64_t group) {
  const int64_t first = group * row_tiles_per_group(shape);
  const int64_t last =
      first + row_tiles_per_group(shape) < shape.row_tiles() ? first + row_tiles_per_group(shape) : shape.row_tiles();
  PatternDigest digest;
  for (int64_t row_tile = first; row_tile < last; ++row_tile) {
    source.visit(shape.first_row(row_tile), shape.rows_in(row_tile),
                 [&digest](int64_t column, uint64_t mask, const auto&) {
                   digest.hash = mix(digest.hash, (static_cast<uint64_t>(column) << 32) ^ mask);
                   digest.nonzeros += popcount(mask);
                 });
    digest.hash = mix(digest.hash, ~static_cast<uint64_t>(0));  // the end of a row tile, which no pair looks like
  }
  return digest;
}

// [packing text ends]
}  // namespace esc::transformer
