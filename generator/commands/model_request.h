// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "generator/commands/layer_request.h"
#include "generator/commands/token_counts.h"

namespace esc {

/// What holds for some layers of a model alone.
struct LayerException {
  std::string tensor;               ///< a pattern; the layers whose names match it
  bool skip = false;                ///< whether they are left out
  std::vector<std::int64_t> bcols;  ///< none: the model's
  std::string schedule;             ///< empty: the model's
};

/// What is to be made of a model: one bundle of all its layers that are worth it.
struct ModelRequest {
  LayerRequest layer;  ///< what holds for all layers; its matrix is the model
  std::vector<TokenCount> token_counts;
  std::string name;                  ///< of the bundle
  std::vector<std::string> tensors;  ///< patterns, one of which a tensor's name matches; none: all
  int jobs = 0;                      ///< layers at once; 0: as many as there are cores
  bool packed = true;                ///< whether model.packed is written
  bool all = false;                  ///< whether layers get kernels that are expected to be larger or slower than dense
  std::string note = {};             ///< to be said of all of it; empty where nothing is
  std::vector<LayerException> exceptions = {};  ///< of several that match a layer's name the first one counts
};

/// The share of zeros from which on a layer of a model gets a kernel where nobody says one. Less than a half, because
/// pruning to a half leaves some layers just below it.
inline constexpr double model_min_sparsity = 0.45;

}  // namespace esc
