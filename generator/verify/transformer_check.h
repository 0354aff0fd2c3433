#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "generator/matrix/sparse_matrix.h"
#include "generator/verify/bundle_interface.h"

namespace esc {

/// What the transformer makes of the matrix, and what is wrong with it.
struct TransformCheck {
  std::vector<std::byte> packed;
  std::vector<std::string> problems;
};

/// Packs the matrix with the bundle's own transformer. A matrix with one non-zero moved must be refused.
TransformCheck check_transformer(const BundleInterface& bundle, const SparseMatrix& matrix);

}  // namespace esc
