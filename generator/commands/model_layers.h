// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "generator/commands/model_request.h"
#include "generator/emit/model_bundle.h"
#include "generator/model/model.h"
#include "generator/support/scratch_file.h"

namespace esc {

/// What became of a tensor.
struct ModelRow {
  enum class Outcome { made, left_out, failed };

  std::string name;
  std::string shape;
  Outcome outcome = Outcome::left_out;
  std::string reason = {};  ///< where it was not made
  ExitStatus status = ExitStatus::done;
  double sparsity = -1;     ///< below 0 where nobody has looked
  double dense_bytes = 0;   ///< 0 where nobody has looked
  std::size_t kernels = 0;  ///< where it was made, one for each bCol and GPU
  std::size_t kept = 0;     ///< of them, those that an earlier run has made of the same
  ModelLayer layer = {};    ///< where it was made
};

/// The layers of a model, their kernels, and their packed matrices in a file without a name.
struct ModelLayers {
  std::vector<ModelRow> rows;
  std::map<std::string, ModelKernel> kernels;
  std::vector<TuningRecord> tunings;  ///< what was measured, in the order of the layers
  std::uint64_t packed_bytes = 0;     ///< of the matrices with the header in front, without the index
  std::string loop_nest;
  LoopNest nest;  ///< the same
  std::string layout;
  std::string dtype;
  std::vector<std::string> problems;  ///< of kernels that are wrong
};

/// Makes them, several at once, and writes the packed matrices to the file in the order of the layers. Takes memory for
/// as many layers as fit into a few GiB, and for one in any case. What the bundle on disk has of a layer is kept where
/// it was made of the same, unless that bundle is to be checked. A kernel that it has, verified with the same layer, is
/// not verified again.
ModelLayers make_model_layers(const Model& model, const ModelRequest& request, const GenerateMode& mode,
                              const ScratchFile& file, const std::optional<ModelBundle>& on_disk,
                              const Console& console);

}  // namespace esc
