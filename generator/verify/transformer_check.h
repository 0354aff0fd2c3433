// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "generator/matrix/sparse_matrix.h"
#include "generator/matrix/typed_elements.h"
#include "generator/verify/transformer_calls.h"

namespace esc {

/// What the transformer makes of the matrix, and what is wrong with it.
struct TransformCheck {
  std::vector<std::byte> packed;
  std::vector<std::string> problems;
  std::optional<OtherMatrix> other;   ///< other values in the pattern; absent where the transformer refuses them
  std::vector<OtherMatrix> patterns;  ///< other patterns, of a bundle that takes any
};

/// Calls a bundle's own transformer as its C interface allows, and as it forbids; docs/reference/verification.md lists
/// the calls. Each must return what the interface promises. Other patterns must be refused, or packed where the kernel
/// takes any (other_patterns.h). From CSR, with zeros stored and without, and from dense, with gaps between rows and
/// without, the packed bytes must be the same, and hold the very values; `load` must take them and no others.
TransformCheck check_transformer(const TransformerFunctions& transformer, const SparseMatrix& matrix,
                                 const TransformEffort& effort);

}  // namespace esc
