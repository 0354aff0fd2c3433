// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "generator/emit/generate.h"
#include "generator/emit/model_bundle.h"

namespace esc {

/// A model's bundle as it is in a folder: what its manifest says, with the kernels' texts, and its loop nest.
struct WrittenModel {
  ModelBundle model;
  LoopNest nest;
};

/// Throws UserError for a folder without a model's manifest, without a text that it names, or with a nest that is none.
WrittenModel load_model_bundle(const std::filesystem::path& folder);

/// The layer of this matrix once more, packed and lowered as the variant's schedule says. What the way to fragments of
/// the matrix has shown is kept for its other variants.
GeneratedLayer generate_variant(const WrittenModel& written, const ModelVariant& variant, const SparseMatrix& matrix,
                                std::shared_ptr<PackingCache> fragments);

}  // namespace esc
