// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "generator/emit/dispatch.h"
#include "generator/matrix/sparse_matrix.h"
#include "generator/verify/bundle_library.h"
#include "generator/verify/report.h"

namespace esc {

/// Runs a bundle on the first GPU of this machine, each product after the predecessor of that file, and compares with
/// what the nest says in double: the calls of its transformer, dense ones for matrices of up to 64 M elements, and of
/// its kernel, as by emulation, without those that ask for another device or for more than 1 GiB. Needs the CUDA
/// runtime as a shared library, no toolkit. Throws UserError (status missing_tool) when there is no GPU or no CUDA
/// runtime.
VerificationReport check_on_gpu(const BundleLibrary& bundle, const std::filesystem::path& predecessor,
                                const LoopNest& nest, const SparseMatrix& matrix, const Dispatch& dispatch);

}  // namespace esc
