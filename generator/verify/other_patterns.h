// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "generator/verify/transformer_calls.h"

namespace esc {

/// Whether a packed matrix is of a format whose kernels read any pattern. Not where the bytes are no packed matrix.
bool has_any_pattern(std::span<const std::byte> packed);

/// What other patterns than the matrix's may take beside what it takes itself.
struct FurtherRoom {
  std::int64_t entries = 0;
  std::size_t packed_bytes = 0;
};

/// Of the patterns that are made of a matrix below. Nothing where kernels are bound to its pattern.
FurtherRoom room_for_other_patterns(const SparseMatrix& matrix, std::span<const std::byte> packed);

/// Calls a transformer for other patterns, where its kernel takes any, which are made of the matrix: one with a third
/// less of it, some with a non-zero elsewhere, one with its fullest row tile in place of another, one with a full row
/// tile. What does not fit must be refused, with the numbers that say why; all else must be packed as this program
/// packs it, with zeros after it and nothing around touched; and NAME_bytes_for must say what NAME_transform_into
/// needs. Gives matrices that the kernel is to be run with.
std::vector<OtherMatrix> check_other_patterns(JudgedCalls& calls, const SparseMatrix& matrix,
                                              std::span<const std::byte> packed, const TransformEffort& effort);

}  // namespace esc
