#pragma once

#include <vector>

#include "generator/matrix/sparse_matrix.h"
#include "generator/verify/bundle_library.h"
#include "generator/verify/report.h"

namespace esc {

/// Runs a bundle on the first GPU of this machine and compares with what the nest says in double: the transformer from CSR and,
/// for matrices of up to 64 M elements, from dense (both must give the same bytes), then the products, C poisoned
/// beforehand. Needs the CUDA runtime as a shared library, no toolkit. Throws UserError (status missing_tool) when
/// there is no GPU or no CUDA runtime.
VerificationReport check_on_gpu(const BundleLibrary& bundle, const LoopNest& nest, const SparseMatrix& matrix,
                                const std::vector<ProductCase>& products);

}  // namespace esc
