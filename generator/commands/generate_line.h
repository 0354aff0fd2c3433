// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "generator/commands/layer_request.h"
#include "generator/commands/nest_line.h"
#include "generator/commands/quick_tuning.h"

namespace esc {

/// The command line of `escgen generate` before it is a list of layers.
struct GenerateLine {
  LayerRequest layer;
  GenerateMode mode;
  std::string bcols;
  NestLine nest;
  std::optional<std::string> name;
  std::string spec;
  std::vector<std::string> gpus;
  std::vector<std::string> architectures;
  std::string database;
  std::string schedule_file;
  std::string tune;  ///< "quick"; empty: nothing is measured
  TuningJournals journals;
  std::optional<std::string> dtype;
  std::optional<std::string> max_packed;
  std::optional<double> min_sparsity;
  std::vector<std::string> tensors;
  int jobs = 0;
  bool packed = true;
  bool all = false;
};

// What options do not go together, by UserError: before a spec is read, where a file holds a model of several matrices,
// of this name, and where it does not.
void refuse_unusable(const GenerateLine& line);
void refuse_for_model(const GenerateLine& line, const std::string& model);
void refuse_for_layers(const GenerateLine& line);
/// An option that says how auto chooses; `value` is empty where it is not given.
void refuse_where_named(const std::string& option, const std::string& value, const std::string& schedule);

}  // namespace esc
