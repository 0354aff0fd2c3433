// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "generator/emit/generate.h"
#include "generator/emit/manifest.h"
#include "generator/matrix/sparse_matrix.h"

namespace esc {

/// Throws UserError with status check_failed: what is wrong with a bundle at this place, which is to be generated
/// again.
[[noreturn]] void refuse_bundle(const std::filesystem::path& place, const std::string& rule);

/// The layer that a bundle's manifest describes, of the matrix that it packs, generated again: what is to be known of
/// its kernel and launcher is asked of that, not of the bundle's texts. `nest` is what the manifest has as a function.
/// Throws UserError with status check_failed where nothing can be generated from it; with status bad_input for a
/// manifest of another version of this program.
GeneratedLayer described_layer(const Manifest& manifest, const SparseMatrix& matrix, const LoopNest& nest,
                               const std::filesystem::path& manifest_file);

}  // namespace esc
