// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "generator/matrix/read_options.h"
#include "generator/matrix/sparse_matrix.h"
#include "generator/model/weight.h"
#include "generator/support/stage_progress.h"

namespace esc {

/// How a user names a layer: a matrix's file, or FILE:TENSOR for a tensor of a model. The tensor's name begins after
/// the first colon that follows the ending of a model (.safetensors, .safetensors.index.json, .npz), whatever is on the
/// disk, so that file and tensor may have colons too. A colon, because shells leave it alone and # begins a comment in
/// the lists of layers.
struct LayerFile {
  std::string path;
  std::string tensor;  ///< empty: the file is the layer's, or has one matrix alone

  /// "model.safetensors:encoder.weight".
  std::string name() const { return tensor.empty() ? path : path + ":" + tensor; }
};

/// The two parts of a name.
LayerFile parse_layer_file(const std::string& name);

/// The matrix of a layer, whatever kind of file it is in. Throws UserError as the readers do.
SparseMatrix read_layer(const std::string& name, const ReadOptions& options = {},
                        StageProgress& progress = StageProgress::silent());

/// Its extents, where they are those of a convolution, three to five, which `read_layer` reads as a matrix of two; else
/// none.
std::vector<std::int64_t> read_layer_shape(const std::string& name);

/// The type that its elements have in the file: f64, f32, f16 or bf16. None where they are words of a text.
std::optional<ScalarType> stored_type(const std::string& name);
/// The same of a weight; none where it has another type.
std::optional<ScalarType> stored_type(const Weight& weight);

/// What may be given as a layer, as a phrase for messages.
inline constexpr const char* layer_endings = ".smtx, .mtx, .npy or .npz file, or a tensor as in model.safetensors:NAME";

}  // namespace esc
