#pragma once

#include <cstdint>
#include <vector>

#include "transformer/matrix_view.h"
#include "transformer/packed_matrix.h"
#include "transformer/pattern_check.h"

namespace esc::transformer {

struct PackingOptions {
  std::uint32_t height = 4;               ///< rows of a panel (UFi), 1 to 8
  std::uint32_t max_list_columns = 1024;  ///< bounds how many products one float32 sum runs over, and a list's work
};

/// The format that `pack` would give the matrix, without packing it.
PackedFormat plan(const DenseView& matrix, const PackingOptions& options);
PackedFormat plan(const CsrView& matrix, const PackingOptions& options);

/// Packs a matrix: O(M K) from dense, O(non-zeros) and some work per panel from CSR. Runs on all threads that oneTBB
/// gives; the bytes are the same for any number of them and for either form of the matrix. Throws
/// std::invalid_argument for a view that breaks its rules and for options out of range.
PackedMatrix pack(const DenseView& matrix, const PackingOptions& options);
PackedMatrix pack(const CsrView& matrix, const PackingOptions& options);

/// The digests by which a generated transformer knows the pattern of this matrix again, for panels of `height` rows.
std::vector<PatternDigest> pattern_digests(const DenseView& matrix, std::uint32_t height);
std::vector<PatternDigest> pattern_digests(const CsrView& matrix, std::uint32_t height);

}  // namespace esc::transformer
