// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "generator/commands/model_request.h"
#include "generator/model/model.h"

namespace esc {

/// The name of a model's bundle: "llama" for "llama.safetensors", and the folder's where the file has the name that all
/// have.
std::string model_name(const std::string& model);

/// Generates, checks or only describes the bundle of a model, as the mode says. A layer that fails does not spoil the
/// others; the status is the worst of all.
ExitStatus generate_model(const Model& model, const ModelRequest& request, const GenerateMode& mode,
                          const Console& console);

}  // namespace esc
