// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "generator/commands/console.h"
#include "generator/model/model.h"
#include "generator/support/error.h"

namespace esc {

/// What is named, where `inspect` lists its tensors in place of looking at one matrix: a model without a tensor's name,
/// but for a .npz file that is one matrix of SciPy. Throws UserError as open_model does.
std::optional<Model> listed_model(const std::string& name);

/// The file of a model; a folder stands for the one in it.
std::string file_of_model(const std::string& model);

/// Lists the tensors of a model with what their values are like, as a table or as JSON.
ExitStatus inspect_model(const Model& model, bool as_json, const Console& console);

}  // namespace esc
