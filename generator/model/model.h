// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "generator/matrix/read_options.h"
#include "generator/matrix/sparse_matrix.h"
#include "generator/model/weight.h"
#include "generator/support/stage_progress.h"

namespace esc {

/// The weights of a checkpoint, of which nothing but their names, types, shapes and places has been read.
struct Model {
  std::string name;             ///< as the user named it
  std::vector<Weight> weights;  ///< in the order of their names; those that are no matrices too
};

/// Whether the path is one of a model: a .safetensors file, an index of several (.safetensors.index.json), a .npz file,
/// or a folder with the first two of them in it.
bool is_model(const std::filesystem::path& path);

/// The file that opens it: the one in a folder, else the path itself. Throws UserError for a folder without.
std::filesystem::path model_file(const std::filesystem::path& path);

/// Opens it. Throws UserError for what is none, pickles among it, and for a file that is not what its ending says.
Model open_model(const std::filesystem::path& path);

/// The weight of this name: "NAME", "NAME.3" for a slice of a tensor of three dimensions, "NAME.T" for a matrix with
/// rows as columns. Of a model that has one matrix alone, and hides no layer beside it, also without a name. Throws
/// UserError with the names that there are.
Weight find_weight(const Model& model, const std::string& name);

/// Its matrix. Throws UserError for a weight that is none, and as readers of matrices do.
SparseMatrix read_weight(const Weight& weight, const ReadOptions& options,
                         StageProgress& progress = StageProgress::silent());

}  // namespace esc
