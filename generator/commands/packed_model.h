// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "generator/emit/model_bundle.h"
#include "generator/matrix/sparse_matrix.h"
#include "generator/support/regular_file.h"

namespace esc {

/// The packed matrices of a model's bundle, read one by one. Whatever is not as the manifest says ends in a UserError.
class PackedModel {
 public:
  /// Opens the file of the bundle in `folder`, whose matrices have these elements.
  PackedModel(const std::filesystem::path& folder, ScalarType element);

  /// Size, header and index must be those of the model.
  void check(const ModelBundle& model);

  /// The matrix that a packed matrix of the layer is of: its fingerprint must be the layer's.
  SparseMatrix matrix_of(const ModelLayer& layer, std::size_t packing);

 private:
  std::vector<std::byte> read(std::uint64_t at, std::uint64_t bytes) const;

  std::filesystem::path path_;
  RegularFile file_;
  ScalarType element_;
};

}  // namespace esc
