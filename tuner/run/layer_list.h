// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "generator/matrix/sparse_matrix.h"
#include "tuner/records/record.h"

namespace esc::tuning {

/// The files of matrices that some names stand for: a file is itself, a model of several matrices those as FILE:TENSOR,
/// a folder all readable matrices in it and below, in the order of their paths. Throws UserError for a name that is
/// neither and for a folder that cannot be read or has no matrix.
std::vector<std::string> matrix_files(const std::vector<std::string>& names);

/// Those of them that are there because a whole model was named.
std::set<std::string> layers_of_models(const std::vector<std::string>& names);

/// The names in a list: one a line, from # on a comment, relative ones beside the list. Throws UserError.
std::vector<std::string> read_matrix_list(const std::string& file);

LayerFacts facts_of(const SparseMatrix& matrix, const std::string& file);

/// What was found of some files.
struct LayerList {
  std::vector<LayerFacts> layers;     ///< in the order of the files
  std::vector<std::string> problems;  ///< why a file is no matrix that can be read
  std::vector<std::string> notes;     ///< why a matrix has nothing to tune for
};

/// Reads the files, several at once, and keeps what is to be known of their layers, with elements of this type; equal
/// patterns are there once.
LayerList read_layers(const std::vector<std::string>& files, ScalarType element = ScalarType::f32);

/// Keeps of the layers of models one of each shape and kind of pattern, by whose schedules databases know the others,
/// and none with a smaller share of zeros; how many were left out is among the notes.
void keep_one_of_each_kind(LayerList& list, const std::set<std::string>& of_models, double least_sparsity);

}  // namespace esc::tuning
