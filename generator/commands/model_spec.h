// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "generator/commands/model_request.h"

namespace esc {

/// What a spec says of a model. What it does not say is as where nothing is on the command line.
struct ModelSpec {
  ModelRequest request;  ///< its name is empty where the spec has none
  std::optional<PackedLimit> max_packed;
  std::string database;
};

/// The spec of a model: {"model": FILE, "bcol": N or [N, ...], ...} with the keys of model_form; none where the text is
/// no object with "model". Relative files are looked for beside the spec. Throws UserError, with the place in the file,
/// for anything that is wrong with it.
std::optional<ModelSpec> parse_model_spec(const std::string& text, const std::string& file);

}  // namespace esc
